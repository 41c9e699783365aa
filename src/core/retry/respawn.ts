/** Decides when a device that ended is opened again, and what is reported meanwhile. Works in virtual time without timers. */

import type { Seed } from '../random.ts';
import { type BackoffPolicy, drawWithin } from './backoff.ts';

/** Opening a missing device costs CPU: tries become rarer with time, down to one per `capMs`. */
export const RESPAWN_BACKOFF: BackoffPolicy = { floorMs: 20, baseMs: 250, capMs: 5000 };
/** Time (ms) in which a device that was just closed may still report that it is in use. */
export const BUSY_GRACE_MS = 3000;
const BUSY_RETRY: BackoffPolicy = { floorMs: 60, baseMs: 120, capMs: 120 };
/** Running time (ms) after which the next failure counts as a new problem. */
const STABLE_AFTER_MS = 10_000;
/** Time (ms) that a new cause must last before it is reported: a failure can show several causes at first. */
const CAUSE_STAYS_MS = 3000;
/** Interval between log lines about a lasting fault (ms). */
export const LOG_INTERVAL_MS = 60_000;

export interface RespawnState {
  readonly seed: Seed;
  /** When the trouble began; null while there is none. */
  readonly troubleSince: number | null;
  /** Since when the device has only answered "busy". */
  readonly busySince: number | null;
  /** The trouble was reported to the owner. */
  readonly reported: boolean;
  /** The cause that was reported to the owner; `lastCause`: the cause of the last failure. */
  readonly reportedCause: string | null;
  readonly lastCause: string | null;
  /** Since when all failures have had the last cause. */
  readonly causeSince: number;
  readonly loggedAt: number | null;
  /** Failures since the last log line. */
  readonly unlogged: number;
  /** The last log line was about a failure. */
  readonly logIsOpen: boolean;
}

export function beginRespawn(seed: Seed): RespawnState {
  return {
    seed,
    troubleSince: null,
    busySince: null,
    reported: false,
    reportedCause: null,
    lastCause: null,
    causeSince: 0,
    loggedAt: null,
    unlogged: 0,
    logIsOpen: false,
  };
}

export interface Failure {
  readonly code: string;
  /** Identifies the kind of failure: equal for failures of one kind. */
  readonly cause: string;
  /** Time that the device worked before it failed; 0: it never worked. */
  readonly workedMs: number;
}

export interface Verdict {
  readonly state: RespawnState;
  readonly waitMs: number;
  /** Report to the owner: a new problem, or a new cause that has lasted. */
  readonly report: boolean;
  /** Number of failures that the log line covers; 0: no line now. */
  readonly log: number;
}

/** Handles a failure of the device. */
export function noteFailure(state: RespawnState, failure: Failure, now: number): Verdict {
  const wasStable = failure.workedMs >= STABLE_AFTER_MS;
  const isBusy = failure.code === 'busy';
  const troubleSince = wasStable ? now : (state.troubleSince ?? now);
  const busySince = isBusy ? (state.busySince ?? now) : null;
  const isPatient = busySince !== null && now - busySince < BUSY_GRACE_MS;
  const wait = isPatient
    ? drawWithin(BUSY_RETRY, BUSY_RETRY.capMs, state.seed)
    : drawWithin(RESPAWN_BACKOFF, (now - troubleSince) / 4, state.seed);
  const causeSince = failure.cause === state.lastCause ? state.causeSince : now;
  const isNewCause = failure.cause !== state.reportedCause && now - causeSince >= CAUSE_STAYS_MS;
  const report = !isPatient && (!state.reported || isNewCause);
  const unlogged = state.unlogged + (isPatient ? 0 : 1);
  const isDue = state.loggedAt === null || now - state.loggedAt >= LOG_INTERVAL_MS;
  const log = unlogged > 0 && isDue ? unlogged : 0;
  return {
    state: {
      seed: wait.seed,
      troubleSince,
      busySince,
      reported: state.reported || report,
      reportedCause: report ? failure.cause : state.reportedCause,
      lastCause: failure.cause,
      causeSince,
      loggedAt: log > 0 ? now : state.loggedAt,
      unlogged: log > 0 ? 0 : unlogged,
      logIsOpen: state.logIsOpen || log > 0,
    },
    waitMs: wait.waitMs,
    report,
    log,
  };
}

/**
 * Notes that the device works: it delivered or took sound.
 * @returns `recovered`: the trouble had been reported to the owner; `log`: it had been logged, too
 */
export function noteWorking(
  state: RespawnState,
  workedMs: number,
): { state: RespawnState; recovered: boolean; log: boolean } {
  const recovered = state.reported;
  const isStable = workedMs >= STABLE_AFTER_MS && state.troubleSince !== null;
  if (!recovered && !isStable && state.busySince === null) return { state, recovered, log: false };
  const calm = {
    ...state,
    reported: false,
    reportedCause: null,
    lastCause: null,
    busySince: null,
    logIsOpen: false,
  };
  return {
    // Waits start over only after a stable run, so that a device that comes and goes is not retried too often.
    state: isStable ? { ...calm, troubleSince: null, loggedAt: null, unlogged: 0 } : calm,
    recovered,
    log: recovered && state.logIsOpen,
  };
}
