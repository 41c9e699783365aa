import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Machine, removeGroup } from './container.ts';

const CONTROLLER = '/sys/fs/cgroup/memory';
/** The most that a group ever held, pages of files and TCP's buffers included: what cgroup 2 has in `memory.peak`. */
const PEAKS = ['memory.max_usage_in_bytes', 'memory.kmem.tcp.max_usage_in_bytes'];

/** A group of the kernel's memory controller, on this machine: the other one's services have none. */
export interface MemoryMeter {
  /** Its name, as a process in it finds it in /proc/self/cgroup. */
  readonly name: string;
  /** From here on the process and its children are counted; `pid` as the other machine has it. */
  add(machine: Machine, pid: number): void;
  /** Bytes. */
  peak(): number;
  close(): Promise<void>;
}

/** Why there is no such group to be had here; null: there is. */
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
