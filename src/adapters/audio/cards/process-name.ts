import { basename, join } from 'node:path';
import { readIfReadable } from '../../if-readable.ts';
import type { Holder } from './card.ts';

/** Programs that others start to reach a sound card: the program that started them is more useful to know. */
const WRAPPERS = /^(arecord|aplay|timeout|sh|bash|dash)$/;
/** The kernel's names for a JavaScript program. */
const NODE = /^(node|nodejs|MainThread|node-MainThread)$/;
const UNKNOWN_PROGRAM = 'a program that this user may not see';

/**
 * Names the program of a process. For a mere wrapper it adds the program that started it.
 * @param pid of the process or of one of its threads
 */
export function describeHolder(proc: string, pid: number): Holder {
  const process = readProcess(proc, pid);
  if (process === null) return { pid: pid > 0 ? pid : null, program: UNKNOWN_PROGRAM };
  const parent = WRAPPERS.test(process.program) ? readProcess(proc, process.parent) : null;
  const isTelling = parent !== null && parent.pid > 1 && !WRAPPERS.test(parent.program);
  const program = isTelling ? `${process.program} of ${parent.program}` : process.program;
  return { pid: process.pid, program };
}

interface Process {
  readonly pid: number;
  readonly parent: number;
  readonly program: string;
}

function readProcess(proc: string, pid: number): Process | null {
  if (pid <= 0) return null;
  const status = readIfReadable(join(proc, String(pid), 'status'));
  if (status === null) return null;
  const field = (name: string): string => new RegExp(`^${name}:\\s*(.*)$`, 'm').exec(status)?.[1] ?? '';
  // A thread has its own name; the program's name is that of its first thread.
  const group = Number(field('Tgid')) || pid;
  const comm = readIfReadable(join(proc, String(group), 'comm'))?.trim() ?? field('Name');
  const words = readIfReadable(join(proc, String(group), 'cmdline'))?.split('\0') ?? [];
  const script = words.slice(1).find((word) => !word.startsWith('-') && word !== '');
  const isScript = NODE.test(comm) && script !== undefined;
  const program = isScript ? basename(script).replace(/\.(m|c)?[jt]s$/, '') : comm;
  return { pid: group, parent: Number(field('PPid')) || 0, program };
}
