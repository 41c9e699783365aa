import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import type { Card, Rack } from '../../test/card/card.ts';
import { commandLine, readProcesses, treeOf } from './process-tree.ts';

/** The measured programs, in the order of the tables. */
export const SUBJECTS = ['agent', 'other', 'bare', 'addons'] as const;
export type SubjectName = (typeof SUBJECTS)[number];

/** A program that carries sound between a card and the service, and its command line. */
export interface Subject {
  readonly name: SubjectName;
  readonly card: Card;
  /** Variables in addition to the environment of this process. */
  readonly env: Readonly<Record<string, string>>;
  /** Node's arguments: flags, script, and the script's own. */
  arguments(): Promise<readonly string[]>;
}

export interface Running {
  readonly pid: number;
  readonly startedAtMs: number;
  /** The end of its standard output and error. */
  readonly said: string;
  /** Resolves when the program has ended. */
  readonly over: Promise<unknown>;
  stop(): Promise<void>;
}

const END_LIMIT_MS = 12_000;
const SAID_CHARS = 4000;

/** Makes the kernel end the child when this process ends for any reason. */
const withParent: readonly string[] =
  spawnSync('setpriv', ['--version']).status === 0 ? ['setpriv', '--pdeathsig', 'KILL'] : [];

/** Starts a program that does not outlive this one. */
export function startBound(command: readonly string[], env: NodeJS.ProcessEnv): ChildProcess {
  const [first = '', ...rest] = [...withParent, ...command];
  return spawn(first, rest, { env, stdio: ['ignore', 'pipe', 'pipe'] });
}

export async function startSubject(subject: Subject, rack: Rack): Promise<Running> {
  const given = await subject.arguments();
  const startedAtMs = Number(process.hrtime.bigint()) / 1e6;
  const child = startBound([process.execPath, ...given], { ...rack.env, ...subject.env });
  let said = '';
  const keep = (text: Buffer): void => {
    said = (said + text.toString()).slice(-SAID_CHARS);
  };
  child.stdout?.on('data', keep);
  child.stderr?.on('data', keep);
  await once(child, 'spawn');
  return {
    pid: child.pid ?? 0,
    startedAtMs,
    get said() {
      return said;
    },
    over: once(child, 'close'),
    stop: () => stopChild(child),
  };
}

export async function stopChild(child: ChildProcess): Promise<void> {
  if (child.pid === undefined || child.exitCode !== null || child.signalCode !== null) return;
  const exited = once(child, 'exit');
  const family = treeOf(readProcesses(), child.pid).map(({ pid }) => pid);
  child.kill('SIGTERM');
  const timer = setTimeout(() => child.kill('SIGKILL'), END_LIMIT_MS);
  await exited;
  clearTimeout(timer);
  // Children of a program that died keep the devices busy. They end with their pipe, or here.
  for (const { pid } of readProcesses().filter(({ pid }) => pid !== child.pid && family.includes(pid))) {
    try {
      process.kill(pid, 'SIGKILL');
    } catch {
      // The process has already ended.
    }
  }
}

/** The command line of the subject's child of that name; null if there is none yet. */
export function childCommand(root: number, name: string): readonly string[] | null {
  const child = treeOf(readProcesses(), root).find((process) => process.name === name);
  return child === undefined ? null : commandLine(child.pid);
}
