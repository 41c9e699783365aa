/** When a device that ended is opened again, and what is told of it meanwhile. Virtual time; nothing here waits. */

import type { Seed } from '../random.ts';
import { type BackoffPolicy, drawWithin } from './backoff.ts';

/** Opening a device that is not there costs some CPU: the longer it is gone, the rarer, but never rarer than the cap. */
export const RESPAWN_BACKOFF: BackoffPolicy = { floorMs: 20, baseMs: 250, capMs: 5000 };
/** A device that was just closed may still say that it is in use. */
export const BUSY_GRACE_MS = 3000;
const BUSY_RETRY: BackoffPolicy = { floorMs: 60, baseMs: 120, capMs: 120 };
/** A device that sounded for this long was sound: what ended it begins a new trouble. */
const STABLE_AFTER_MS = 10_000;
/** A cause that follows another one is told when it has stayed for so long: an end has several faces at first. */
const CAUSE_STAYS_MS = 3000;
/** A fault that lasts is logged once in this long. */
export const LOG_INTERVAL_MS = 60_000;

export interface RespawnState {
  readonly seed: Seed;
  /** When the trouble began; null while there is none. */
  readonly troubleSince: number | null;
  /** The device answered with "busy" and nothing else since then. */
  readonly busySince: number | null;
  /** The owner knows of the trouble. */
  readonly told: boolean;
  /** What the owner takes for its cause, and what the last failure was of. */
  readonly toldCause: string | null;
  readonly lastCause: string | null;
  /** Since when all failures have been of that. */
  readonly causeSince: number;
  readonly loggedAt: number | null;
  /** Failures since the last log line. */
  readonly unlogged: number;
  /** The log's last word is of a failure. */
  readonly logIsOpen: boolean;
}

export function beginRespawn(seed: Seed): RespawnState {
  return {
    seed,
    troubleSince: null,
    busySince: null,
    told: false,
    toldCause: null,
    lastCause: null,
    causeSince: 0,
    loggedAt: null,
    unlogged: 0,
    logIsOpen: false,
  };
}

export interface Failure {
  readonly code: string;
  /** Two failures with the same are of one kind. */
  readonly cause: string;
  /** How long it worked before it failed; 0 where it never did. */
  readonly workedMs: number;
}

export interface Verdict {
  readonly state: RespawnState;
  readonly waitMs: number;
  /** The owner has not been told this yet: of the trouble, or of a cause that has stayed since. */
  readonly tell: boolean;
  /** How many failures the log line stands for; 0: no line now. */
  readonly log: number;
}

/** The device failed. */
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
  const isNewCause = failure.cause !== state.toldCause && now - causeSince >= CAUSE_STAYS_MS;
  const tell = !isPatient && (!state.told || isNewCause);
  const unlogged = state.unlogged + (isPatient ? 0 : 1);
  const isDue = state.loggedAt === null || now - state.loggedAt >= LOG_INTERVAL_MS;
  const log = unlogged > 0 && isDue ? unlogged : 0;
  return {
    state: {
      seed: wait.seed,
      troubleSince,
      busySince,
      told: state.told || tell,
      toldCause: tell ? failure.cause : state.toldCause,
      lastCause: failure.cause,
      causeSince,
      loggedAt: log > 0 ? now : state.loggedAt,
      unlogged: log > 0 ? 0 : unlogged,
      logIsOpen: state.logIsOpen || log > 0,
    },
    waitMs: wait.waitMs,
    tell,
    log,
  };
}

/**
 * The device works: sound came, or it took some.
 * @returns `recovered` when the owner had been told otherwise; `log` when the log had been, too
 */
export function noteWorking(
  state: RespawnState,
  workedMs: number,
): { state: RespawnState; recovered: boolean; log: boolean } {
  const recovered = state.told;
  const isStable = workedMs >= STABLE_AFTER_MS && state.troubleSince !== null;
  if (!recovered && !isStable && state.busySince === null) return { state, recovered, log: false };
  const calm = { ...state, told: false, toldCause: null, lastCause: null, busySince: null, logIsOpen: false };
  return {
    // The waits only start over when the device has proven itself: one that comes and goes is not tried in a frenzy.
    state: isStable ? { ...calm, troubleSince: null, loggedAt: null, unlogged: 0 } : calm,
    recovered,
    log: recovered && state.logIsOpen,
  };
}
