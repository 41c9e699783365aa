import type { ChildProcess } from 'node:child_process';
import { spawnSync } from 'node:child_process';
import { availableParallelism } from 'node:os';
import { readProcesses } from './process-tree.ts';
import { startBound, stopChild } from './subject.ts';

/** Load on every core except the first. */
export interface Load {
  readonly cores: number;
  /** Clock ticks of CPU that the load has used so far. */
  ticks(): number;
  stop(): Promise<void>;
}

/** @returns the load, or the reason why this machine cannot have one */
export function startLoad(): Load | string {
  const cores = availableParallelism() - 1;
  if (cores < 1) return 'this machine has one core only';
  if (spawnSync('taskset', ['--version']).status !== 0) return 'taskset (util-linux) is not installed';
  const loops: ChildProcess[] = Array.from({ length: cores }, (_, index) =>
    startBound(['taskset', '-c', String(index + 1), process.execPath, '-e', 'for(;;);'], process.env),
  );
  const pids = new Set(loops.map(({ pid }) => pid));
  return {
    cores,
    ticks: () =>
      readProcesses()
        .filter(({ pid }) => pids.has(pid))
        .reduce((sum, { ticks }) => sum + ticks, 0),
    stop: async () => void (await Promise.all(loops.map(stopChild))),
  };
}
