/** A command to one or many devices, and its progress. */
import type { Job, JobDevice, JobState } from '../../protocol/console-jobs.ts';
import { JOB_STATES } from '../../protocol/console-jobs.ts';
import type { CommandResponse } from '../../protocol/mqtt/command.ts';

/** The answers' data is kept for jobs with at most this many devices. */
export const MOST_WITH_DATA = 100;
/** Timeout of a device that has accepted the command (ms): such commands take longer. */
const ACCEPTED_MS = 120_000;
/** Tolerated clock skew between a device and the backend (ms). */
const CLOCK_SKEW_MS = 60_000;
/** Minimum number of devices that get their command per second. */
const SENT_PER_S = 200;

export interface JobEntry {
  state: JobState;
  code: string | null;
  message: string | null;
  data?: unknown;
  /** When the command was sent or accepted, by the wall clock. */
  at: number;
}

export interface JobRecord {
  readonly id: string;
  readonly at: number;
  readonly who: string;
  readonly command: string;
  /** The arguments as sent. */
  readonly args: Readonly<Record<string, unknown>>;
  /** The arguments as shown and kept; not the same object as `args` if some are not kept. */
  readonly shownArgs: Readonly<Record<string, unknown>>;
  readonly validMs: number;
  /** Deadline of the command. The same in every message, so that a device recognises a repeated command. */
  readonly notAfter: number;
  readonly devices: Map<string, JobEntry>;
  /** Id of the audit line that gets the result; null: created by an older version, which did not store the id. */
  readonly auditLine: string | null;
  endedAt: number | null;
}

export interface NewJob {
  readonly id: string;
  readonly who: string;
  readonly command: string;
  readonly args: Readonly<Record<string, unknown>>;
  /** Names of the arguments that may be kept. */
  readonly keeps?: readonly string[] | undefined;
  readonly validMs: number;
  readonly devices: readonly string[];
  readonly auditLine: string;
}

/**
 * The arguments that may be kept: the same object if nothing is left out.
 * @param keeps names of the arguments that may be kept
 */
export function keptArgs(
  args: Readonly<Record<string, unknown>>,
  keeps: readonly string[] = [],
): Readonly<Record<string, unknown>> {
  const entries = Object.entries(args);
  if (entries.every(([name]) => keeps.includes(name))) return args;
  return Object.fromEntries(
    entries.map(([name, value]) => [name, keeps.includes(name) ? value : withoutContent(value)]),
  );
}

const withoutContent = (value: unknown): string =>
  typeof value === 'string' ? `(not kept; length: ${value.length})` : '(not kept)';

export function createJob({ devices, validMs, args, keeps, ...given }: NewJob, now: number): JobRecord {
  const shownArgs = keptArgs(args, keeps);
  return {
    ...given,
    args,
    shownArgs,
    validMs,
    at: now,
    endedAt: null,
    notAfter: now + validMs + CLOCK_SKEW_MS + Math.ceil(devices.length / SENT_PER_S) * 1000,
    devices: new Map(
      [...devices].sort().map((name) => [name, { state: 'waiting', code: null, message: null, at: now }]),
    ),
  };
}

/** Devices that have not got the command yet. */
export function waitingDevices(job: JobRecord, most: number): string[] {
  const names: string[] = [];
  for (const [name, { state }] of job.devices) {
    if (names.length >= most) break;
    if (state === 'waiting') names.push(name);
  }
  return names;
}

/** False: the device does not wait for a command any more. */
export function noteSent(job: JobRecord, name: string, now: number): boolean {
  const entry = job.devices.get(name);
  if (entry?.state !== 'waiting') return false;
  Object.assign(entry, { state: 'sent', at: now });
  return true;
}

const isOpen = ({ state }: JobEntry): boolean =>
  state === 'waiting' || state === 'sent' || state === 'accepted';

/** The first final answer of a device counts. False: the answer changes nothing. */
export function noteAnswer(job: JobRecord, name: string, answer: CommandResponse, now: number): boolean {
  const entry = job.devices.get(name);
  if (entry === undefined || !(isOpen(entry) || entry.state === 'silent')) return false;
  const { status, error, note, data } = answer;
  if (status === 'accepted') {
    if (entry.state !== 'sent') return false;
    Object.assign(entry, { state: 'accepted', at: now });
    return true;
  }
  Object.assign(entry, {
    state: status,
    at: now,
    code: error?.code ?? null,
    message: error?.message ?? note ?? null,
    ...(data !== undefined && job.devices.size <= MOST_WITH_DATA && { data }),
  });
  return true;
}

/** @param why reason to show for a device that did not answer */
export function noteSilence(job: JobRecord, now: number, why: (name: string) => string): boolean {
  let isChanged = false;
  for (const [name, entry] of job.devices) {
    const limit = entry.state === 'accepted' ? ACCEPTED_MS : job.validMs;
    const isLate = entry.state === 'waiting' ? now >= job.notAfter : now - entry.at >= limit;
    if (!isOpen(entry) || !isLate) continue;
    const message = entry.state === 'accepted' ? 'it has begun, but was not finished in time' : why(name);
    Object.assign(entry, { state: 'silent', message });
    isChanged = true;
  }
  return isChanged;
}

/** Sends no further commands. */
export function stopJob(job: JobRecord, message: string): void {
  for (const entry of job.devices.values())
    if (entry.state === 'waiting') Object.assign(entry, { state: 'stopped', message });
}

/** Sends the commands of an earlier run again. Devices that got theirs repeat the answer, and do not run the command twice. */
export function sendAgain(job: JobRecord): void {
  for (const entry of job.devices.values())
    if (entry.state === 'sent' || entry.state === 'accepted') entry.state = 'waiting';
}

export function refuseDevice(job: JobRecord, name: string, code: string, message: string): void {
  const entry = job.devices.get(name);
  if (entry !== undefined && isOpen(entry)) Object.assign(entry, { state: 'error', code, message });
}

/** Ends the job when no device is open any more. @returns whether it has just ended */
export function endIfDone(job: JobRecord, now: number): boolean {
  if (job.endedAt !== null) return false;
  for (const entry of job.devices.values()) if (isOpen(entry)) return false;
  job.endedAt = now;
  return true;
}

export function countsOf(job: JobRecord): Record<JobState, number> {
  const counts = Object.fromEntries(JOB_STATES.map((state) => [state, 0])) as Record<JobState, number>;
  for (const { state } of job.devices.values()) counts[state] += 1;
  return counts;
}

export function deviceOf(name: string, { state, code, message, data }: JobEntry): JobDevice {
  return { device: name, state, code, message, data: data ?? null };
}

export function shownJob(job: JobRecord): Job {
  const [first] = job.devices;
  const iso = (ms: number): string => new Date(ms).toISOString();
  return {
    id: job.id,
    at: iso(job.at),
    who: job.who,
    command: job.command,
    args: job.shownArgs,
    devices: job.devices.size,
    counts: countsOf(job),
    endedAt: job.endedAt === null ? null : iso(job.endedAt),
    first: first === undefined ? null : deviceOf(...first),
  };
}
