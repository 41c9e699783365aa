import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Machine, removeGroup } from './container.ts';

const CONTROLLER = '/sys/fs/cgroup/memory';
/** Peak memory of a group with page cache and TCP buffers, like `memory.peak` of cgroup 2. */
const PEAKS = ['memory.max_usage_in_bytes', 'memory.kmem.tcp.max_usage_in_bytes'];

/** A group of this machine's memory controller: services in the container have none. */
export interface MemoryMeter {
  /** Name of the group, as in /proc/self/cgroup. */
  readonly name: string;
  /** Starts to count a process and its children. @param pid id in the container */
  add(machine: Machine, pid: number): void;
  /** Bytes. */
  peak(): number;
  close(): Promise<void>;
}

/** @returns why such a group is not available; null if it is */
export function whyNoMeter(): string | null {
  return existsSync(join(CONTROLLER, PEAKS[0] ?? ''))
    ? null
    : 'no memory controller at /sys/fs/cgroup/memory';
}

let count = 0;

export function openMeter(): MemoryMeter {
  const name = `dragoman-memory-${process.pid}-${++count}`;
  const folder = join(CONTROLLER, name);
  mkdirSync(folder);
  const read = (file: string): number => Number(readFileSync(join(folder, file), 'utf8'));
  return {
    name,
    add: (machine, pid) => writeFileSync(join(folder, 'cgroup.procs'), String(machine.hostPid(pid))),
    peak: () => PEAKS.map(read).reduce((sum, bytes) => sum + bytes),
    close: () => removeGroup(folder),
  };
}
