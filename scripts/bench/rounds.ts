import { setTimeout as sleep } from 'node:timers/promises';
import { cpuSecondsOf, readProcesses, residentOf, sleepsOf, treeOf } from './process-tree.ts';
import type { Running, SubjectName } from './subject.ts';

/** Cost of one subject in one round. */
export interface Cost {
  /** Seconds of CPU per hour, of the whole tree and of the Node process alone. */
  readonly cpu: { readonly tree: number; readonly node: number };
  /** Wake-ups of Node's main thread per second. */
  readonly wakeUps: number;
  /** MB of the whole tree and of the Node process alone. */
  readonly rss: { readonly tree: number; readonly node: number };
  readonly pss: { readonly tree: number; readonly node: number };
}

export interface Round {
  readonly fromMs: number;
  readonly untilMs: number;
  readonly costs: ReadonlyMap<SubjectName, Cost>;
}

const HOUR_MS = 3_600_000;
const nowMs = (): number => Number(process.hrtime.bigint()) / 1e6;

/** Seconds of CPU, and sleeps of Node's main thread, up to now. */
interface Spent {
  readonly tree: number;
  readonly node: number;
  readonly sleeps: number;
}

function spentBy(root: number, ticksPerS: number): Spent {
  const tree = treeOf(readProcesses(), root).map(
    (process) => [process.pid, cpuSecondsOf(process, ticksPerS)] as const,
  );
  return {
    tree: tree.reduce((sum, [, seconds]) => sum + seconds, 0),
    // Ended children of Node count towards the tree.
    node: tree.find(([pid]) => pid === root)?.[1] ?? 0,
    sleeps: sleepsOf(root),
  };
}

function memoryOf(root: number): Pick<Cost, 'rss' | 'pss'> {
  const figures = treeOf(readProcesses(), root).map(({ pid }) => ({ pid, ...residentOf(pid) }));
  const sum = (kind: 'rss' | 'pss') => ({
    tree: figures.reduce((total, figure) => total + figure[kind], 0),
    node: figures.find(({ pid }) => pid === root)?.[kind] ?? 0,
  });
  return { rss: sum('rss'), pss: sum('pss') };
}

/** One round: all subjects over the same stretch of time. */
export async function measureRound(
  subjects: ReadonlyMap<SubjectName, Running>,
  lengthMs: number,
  ticksPerS: number,
  signal: AbortSignal,
): Promise<Round> {
  const fromMs = nowMs();
  const before = new Map([...subjects].map(([name, { pid }]) => [name, spentBy(pid, ticksPerS)]));
  await sleep(lengthMs, undefined, { signal });
  const after = new Map([...subjects].map(([name, { pid }]) => [name, spentBy(pid, ticksPerS)]));
  const untilMs = nowMs();
  const perHour = (seconds: number): number => (seconds * HOUR_MS) / (untilMs - fromMs);
  const costs = new Map<SubjectName, Cost>();
  for (const [name, { pid }] of subjects) {
    const [early, late] = [before.get(name), after.get(name)];
    if (early === undefined || late === undefined) continue;
    const cpu = { tree: perHour(late.tree - early.tree), node: perHour(late.node - early.node) };
    const wakeUps = ((late.sleeps - early.sleeps) * 1000) / (untilMs - fromMs);
    costs.set(name, { cpu, wakeUps, ...memoryOf(pid) });
  }
  return { fromMs, untilMs, costs };
}
