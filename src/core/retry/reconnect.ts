import type { BusProblem } from '../../ports/bus.ts';
import type { Seed } from '../random.ts';
import { type BackoffPolicy, drawBackoff, drawWithin } from './backoff.ts';

/**
 * For a broker that is down or unreachable. The bound equals the time that the trouble has lasted, from base to cap. So a
 * short outage is never followed by a long wait, and a long outage causes no storm.
 */
export const UNREACHABLE_BACKOFF: BackoffPolicy = { floorMs: 50, baseMs: 1000, capMs: 120_000 };
/**
 * Time per try and until the next try (ms) while the connection is urgent. Both together, plus the time of a successful
 * try, bring the connection back within 15 s after the broker is reachable again.
 */
export const URGENT = { tryMs: 8000, waitMs: 6000 } as const;
/** Time per try otherwise (ms). */
export const PATIENT_TRY_MS = 15_000;
/** For problems that a person must fix. */
export const SLOW_BACKOFF: BackoffPolicy = { floorMs: 30_000, baseMs: 60_000, capMs: 300_000 };
/** For a second client with our identifier: the two would disconnect each other forever. */
export const TAKEN_OVER_BACKOFF: BackoffPolicy = { floorMs: 60_000, baseMs: 300_000, capMs: 300_000 };
/** A connection this long (ms), twice the other client's longest wait, proves that the other client is gone. */
export const UNDISPUTED_AFTER_MS = 600_000;
/** A connection this long (ms) proves that the trouble is over. */
export const STABLE_AFTER_MS = 60_000;

/** State that is kept between connections. */
export interface ReconnectState {
  /** Failures in a row since the last stable connection. */
  readonly failures: number;
  /** Time of the first of these failures; null: no trouble. */
  readonly troubleSince: number | null;
  /** Since when the present connection is up; null: no connection. */
  readonly upSince: number | null;
  /**
   * Consecutive connections that the broker closed without a reason soon after accepting them. After the second one,
   * "soon" means ten minutes: another client that has noticed us waits minutes before it returns.
   */
  readonly quickCloses: number;
  /** The broker lost a session that it should have kept: another client may have started one under our identifier. */
  readonly hasLostSession: boolean;
  /** Another client has taken our identifier, and no connection has been stable since. */
  readonly isDisputed: boolean;
  /** Why the last connection or try ended; null before the first. */
  readonly problem: BusProblem | null;
  /** A person speaks or will soon need a token: waits must be short. */
  readonly urgent: boolean;
  readonly seed: Seed;
}

/**
 * Quick closes in a row that count as another client with the same identifier: MQTT 3.1.1 gives no better sign. MQTT 5 has
 * a reason for it, but not every broker sends it (mosquitto 2.0.11 does not). With MQTT 5 a lost session is required as
 * well, because a network that cuts connections looks the same.
 */
export const SUSPICIOUS_QUICK_CLOSES = 3;

export function beginReconnect(seed: Seed): ReconnectState {
  return {
    failures: 0,
    troubleSince: null,
    upSince: null,
    quickCloses: 0,
    hasLostSession: false,
    isDisputed: false,
    problem: null,
    urgent: false,
    seed,
  };
}

/** @param isSessionLost the broker has lost a session that it should have kept */
export function noteUp(state: ReconnectState, now: number, isSessionLost = false): ReconnectState {
  return { ...state, upSince: now, hasLostSession: state.hasLostSession || isSessionLost };
}

/** Another client was seen under our identifier. */
export function noteOther(state: ReconnectState): ReconnectState {
  return { ...state, isDisputed: true };
}

/** How an attempt or a connection ended. */
export interface ConnectionEnding {
  readonly problem: BusProblem;
  readonly protocol: 4 | 5;
  /** Closed without a reason. */
  readonly silent?: true;
  /** The broker had accepted the client, but not yet its subscriptions. */
  readonly early?: true;
}

/**
 * Handles a failed attempt or an ended connection. @returns the wait until the next attempt, and the `problem`, which
 * takes earlier endings into account
 */
export function noteDown(
  state: ReconnectState,
  ending: ConnectionEnding,
  now: number,
): { state: ReconnectState; waitMs: number; problem: BusProblem } {
  const lastedMs = state.upSince === null ? null : now - state.upSince;
  const wasStable = lastedMs !== null && lastedMs >= STABLE_AFTER_MS;
  const wasUndisputed = lastedMs !== null && lastedMs >= UNDISPUTED_AFTER_MS;
  const failures = (wasStable ? 0 : state.failures) + 1;
  const troubleSince = wasStable ? now : (state.troubleSince ?? now);
  const quickCloses = countQuickCloses(state, ending, lastedMs);
  const knownDispute = state.isDisputed && !wasUndisputed;
  const hasLostSession = state.hasLostSession && !wasUndisputed;
  const isSuspicious = quickCloses >= SUSPICIOUS_QUICK_CLOSES && (ending.protocol === 4 || hasLostSession);
  const isTakeover =
    ending.problem === 'taken_over' ||
    isSuspicious ||
    (knownDispute && lastedMs !== null && ending.silent === true);
  const problem: BusProblem = isTakeover ? 'taken_over' : ending.problem;
  const isDisputed = isTakeover || knownDispute;
  const drawn =
    problem === 'unreachable'
      ? drawWithin(unreachableBackoff(state), now - troubleSince, state.seed)
      : drawBackoff(problem === 'taken_over' ? TAKEN_OVER_BACKOFF : SLOW_BACKOFF, failures, state.seed);
  const next = { failures, troubleSince, upSince: null, quickCloses, problem, seed: drawn.seed };
  return { state: { ...state, ...next, hasLostSession, isDisputed }, waitMs: drawn.waitMs, problem };
}

function countQuickCloses(
  { quickCloses }: ReconnectState,
  { silent, early }: ConnectionEnding,
  lastedMs: number | null,
): number {
  if (silent !== true) return 0;
  // The cause may be a refused subscription, or another client that was even quicker.
  if (lastedMs === null) return early === true ? quickCloses : 0;
  const isSuspicious = quickCloses >= SUSPICIOUS_QUICK_CLOSES - 1;
  return lastedMs < (isSuspicious ? UNDISPUTED_AFTER_MS : STABLE_AFTER_MS) ? quickCloses + 1 : 0;
}

function unreachableBackoff({ urgent }: ReconnectState): BackoffPolicy {
  return urgent ? { ...UNREACHABLE_BACKOFF, capMs: URGENT.waitMs } : UNREACHABLE_BACKOFF;
}

/** Time limit of the next try. */
export function tryMs({ urgent }: ReconnectState): number {
  return urgent ? URGENT.tryMs : PATIENT_TRY_MS;
}

/**
 * Sets whether the connection is needed at once.
 * @param dueAt start of the next try; null: a try is under way, or the connection is up
 * @returns the new start: still spread, and not earlier for a problem that a person must fix
 */
export function noteUrgency(
  state: ReconnectState,
  urgent: boolean,
  dueAt: number | null,
  now: number,
): { state: ReconnectState; dueAt: number | null } {
  const next = { ...state, urgent };
  if (!urgent || state.urgent || dueAt === null || state.problem !== 'unreachable')
    return { state: next, dueAt };
  const drawn = drawWithin(unreachableBackoff(next), URGENT.waitMs, state.seed);
  return { state: { ...next, seed: drawn.seed }, dueAt: Math.min(dueAt, now + drawn.waitMs) };
}
