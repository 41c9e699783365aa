import { readdirSync, readFileSync, readlinkSync, realpathSync } from 'node:fs';
import { basename, join, resolve } from 'node:path';

/** The program's name when installed, and when run from its bundle. */
const PROGRAM = /^dragoman(\.mjs)?$/;
const RUNTIME = /^(node|nodejs|bun)$/;

export interface RunningAgent {
  readonly pid: number;
  /** The full path of its configuration file; null when unknown. */
  readonly config: string | null;
}

/**
 * The running agents that this user may see; undefined when they cannot be listed.
 * @param self the process that asks
 */
export function findRunningAgents(proc: string, self: number): RunningAgent[] | undefined {
  let pids: number[];
  try {
    pids = readdirSync(proc)
      .filter((name) => /^\d+$/.test(name))
      .map(Number);
  } catch {
    return undefined;
  }
  if (pids.length === 0) return undefined;
  return pids.flatMap((pid) => (pid === self ? [] : readAgent(proc, pid)));
}

/** Whether an agent runs with this configuration file, or may do so. */
export function runsWith(agent: RunningAgent, file: string): boolean {
  return agent.config === null || wholePath(agent.config) === wholePath(resolve(file));
}

function readAgent(proc: string, pid: number): RunningAgent[] {
  try {
    const folder = join(proc, String(pid));
    const words = readFileSync(join(folder, 'cmdline'), 'utf8').split('\0');
    const at = words.findIndex((word) => PROGRAM.test(basename(word)));
    // The program itself or a runtime's script; "grep dragoman run" is neither.
    const [first = '', ...flags] = words.slice(0, at);
    const isScript = RUNTIME.test(basename(first)) && flags.every((word) => word.startsWith('-'));
    if ((at !== 0 && !isScript) || words[at + 1] !== 'run') return [];
    const file = namedFile(words.slice(at + 2));
    // An agent without --config exits at once.
    return file === null ? [] : [{ pid, config: wholeName(folder, file) }];
  } catch {
    return [];
  }
}

function namedFile(words: readonly string[]): string | null {
  const place = words.findIndex((word) => word === '--config' || word.startsWith('--config='));
  const file = place < 0 ? '' : (words[place]?.split('=')[1] ?? words[place + 1] ?? '');
  return file === '' ? null : file;
}

function wholeName(folder: string, file: string): string | null {
  if (file.startsWith('/')) return file;
  try {
    return resolve(readlinkSync(join(folder, 'cwd')), file);
  } catch {
    return null;
  }
}

function wholePath(file: string): string {
  try {
    return realpathSync(file);
  } catch {
    return file;
  }
}
