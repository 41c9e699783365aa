import { readdirSync, readFileSync } from 'node:fs';

/** The needed fields of /proc/PID/stat. */
export interface ProcessStat {
  readonly pid: number;
  readonly parent: number;
  readonly name: string;
  /** Clock ticks of the process and its ended children, in user and system mode. */
  readonly ticks: number;
  /** The ended children's part of `ticks`. */
  readonly endedTicks: number;
}

/** @returns null if the text is not such a line */
export function parseStat(text: string): ProcessStat | null {
  // The name may hold spaces and parentheses.
  const match = /^(\d+) \((.*)\) (.*)$/s.exec(text.trim());
  const fields = match?.[3]?.split(' ').map(Number) ?? [];
  const [, parent, , , , , , , , , , user, system, childUser, childSystem] = fields;
  if (match === null || parent === undefined || childSystem === undefined) return null;
  const endedTicks = (childUser ?? 0) + childSystem;
  const ticks = (user ?? 0) + (system ?? 0) + endedTicks;
  return { pid: Number(match[1]), parent, name: match[2] ?? '', ticks, endedTicks };
}

/**
 * Seconds of CPU that a process and its ended children have used. Uses the scheduler's nanoseconds if available, because clock
 * ticks are too coarse for a process that uses a hundredth of a core.
 */
export function cpuSecondsOf({ pid, ticks, endedTicks }: ProcessStat, ticksPerS: number): number {
  const threads = listed(`/proc/${pid}/task`).map((id) => readText(`/proc/${pid}/task/${id}/schedstat`));
  const runNs = threads.map((text) => Number(text.split(' ')[0] || Number.NaN));
  const isTold = runNs.length > 0 && runNs.every((ns) => ns >= 0);
  return isTold ? runNs.reduce((sum, ns) => sum + ns, 0) / 1e9 + endedTicks / ticksPerS : ticks / ticksPerS;
}

/** A process and all its descendants. */
export function treeOf(all: readonly ProcessStat[], root: number): ProcessStat[] {
  const tree = all.filter(({ pid }) => pid === root);
  for (const grown of tree) tree.push(...all.filter(({ parent }) => parent === grown.pid));
  return tree;
}

export function readProcesses(): ProcessStat[] {
  return listed('/proc').flatMap((entry) => {
    if (!/^\d+$/.test(entry)) return [];
    const stat = parseStat(readText(`/proc/${entry}/stat`));
    return stat === null ? [] : [stat];
  });
}

/** Memory of a process (MB): the resident set, and the same with shared pages divided among their users. */
export interface Resident {
  readonly rss: number;
  readonly pss: number;
}

export function parseRollup(text: string): Resident {
  const read = (field: string): number =>
    Number(new RegExp(`^${field}:\\s+(\\d+) kB`, 'm').exec(text)?.[1] ?? 0) / 1024;
  return { rss: read('Rss'), pss: read('Pss') };
}

export function residentOf(pid: number): Resident {
  return parseRollup(readText(`/proc/${pid}/smaps_rollup`));
}

/** The most memory that a process has had so far (MB). */
export function peakOf(pid: number): number {
  return parsePeak(readText(`/proc/${pid}/status`));
}

export function parsePeak(text: string): number {
  return Number(/^VmHWM:\s+(\d+) kB/m.exec(text)?.[1] ?? 0) / 1024;
}

/** How often the main thread of a process has gone to sleep so far. */
export function sleepsOf(pid: number): number {
  return parseSleeps(readText(`/proc/${pid}/task/${pid}/status`));
}

export function parseSleeps(text: string): number {
  return Number(/^voluntary_ctxt_switches:\s+(\d+)/m.exec(text)?.[1] ?? 0);
}

export function commandLine(pid: number): string[] {
  return readText(`/proc/${pid}/cmdline`).split('\0').slice(0, -1);
}

/** Empty if the folder no longer exists. */
function listed(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}

/** Empty if the file no longer exists. */
function readText(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}
