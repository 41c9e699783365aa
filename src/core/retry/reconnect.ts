import type { BusProblem } from '../../ports/bus.ts';
import type { Seed } from '../random.ts';
import { type BackoffPolicy, drawBackoff, drawWithin } from './backoff.ts';

/**
 * For a broker that is down or unreachable. The bound of a wait equals the duration of the outage so far, but at least the base
 * and at most the cap. So a short outage is never followed by a long wait, and a long outage causes no storm.
 */
export const UNREACHABLE_BACKOFF: BackoffPolicy = { floorMs: 50, baseMs: 1000, capMs: 120_000 };
/**
 * Timeout of a try and of each acknowledgement, and wait until the next try (ms), while the connection is urgent. Both
 * together, plus the time of a successful try, bring the connection back within 15 s after the broker is reachable again.
 */
export const URGENT = { tryMs: 8000, waitMs: 6000 } as const;
/** Timeout of a try while the connection is not urgent (ms). */
const PATIENT_TRY_MS = 15_000;
/** For problems that a person must fix. */
export const SLOW_BACKOFF: BackoffPolicy = { floorMs: 30_000, baseMs: 60_000, capMs: 300_000 };
/** For another client with our identifier: the two would disconnect each other forever. */
export const TAKEN_OVER_BACKOFF: BackoffPolicy = { floorMs: 60_000, baseMs: 300_000, capMs: 300_000 };
/**
 * Replaces `SLOW_BACKOFF` and `TAKEN_OVER_BACKOFF` while the connection is urgent: at most 15 s including the try, still without
 * a storm.
 */
export const URGENT_SLOW_BACKOFF: BackoffPolicy = { floorMs: 9000, baseMs: 14_000, capMs: 14_000 };
/** A connection this long (ms), twice the other client's longest wait, proves that the other client is gone. */
export const UNDISPUTED_AFTER_MS = 600_000;
/** A connection this long (ms) proves that the trouble is over. */
export const STABLE_AFTER_MS = 60_000;

/** State that is kept between connections. */
export interface ReconnectState {
  /** Consecutive failures since the last stable connection. */
  readonly failures: number;
  /** Time of the first of these failures; null: no trouble. */
  readonly troubleSince: number | null;
  /** Since when the present connection is up; null: no connection. */
  readonly upSince: number | null;
  /** Another client uses our identifier, as its status or the broker has shown. */
  readonly isDisputed: boolean;
  /** The present wait lasts minutes: only time or a person can help. */
  readonly isSlow: boolean;
  /** A person speaks or will soon need a token: waits must be short. */
  readonly urgent: boolean;
  readonly seed: Seed;
}

export function beginReconnect(seed: Seed): ReconnectState {
  const clean = { failures: 0, troubleSince: null, upSince: null };
  return { ...clean, isDisputed: false, isSlow: false, urgent: false, seed };
}

export function noteUp(state: ReconnectState, now: number): ReconnectState {
  return { ...state, upSince: now };
}

/** How an attempt or a connection ended. */
export interface ConnectionEnding {
  readonly problem: BusProblem;
  /** The broker closed the connection without a reason: in a dispute, this is most likely the other client's work. */
  readonly silent?: true;
}

/** Handles a failed attempt or an ended connection. @returns also the wait until the next attempt */
export function noteDown(
  state: ReconnectState,
  { problem, silent }: ConnectionEnding,
  now: number,
): { state: ReconnectState; waitMs: number } {
  const wasStable = state.upSince !== null && now - state.upSince >= STABLE_AFTER_MS;
  const failures = (wasStable ? 0 : state.failures) + 1;
  const troubleSince = wasStable ? now : (state.troubleSince ?? now);
  const isLikely = state.isDisputed && state.upSince !== null && silent === true;
  const isTakeover = problem === 'taken_over' || isLikely;
  const isSlow = isTakeover || problem === 'refused';
  const { waitMs, seed } = isSlow
    ? drawBackoff(slowBackoff(state, isTakeover), failures, state.seed)
    : drawWithin(unreachableBackoff(state), now - troubleSince, state.seed);
  return { state: { ...state, failures, troubleSince, upSince: null, isSlow, seed }, waitMs };
}

function slowBackoff({ urgent }: ReconnectState, isTakeover: boolean): BackoffPolicy {
  if (urgent) return URGENT_SLOW_BACKOFF;
  return isTakeover ? TAKEN_OVER_BACKOFF : SLOW_BACKOFF;
}

function unreachableBackoff({ urgent }: ReconnectState): BackoffPolicy {
  return urgent ? { ...UNREACHABLE_BACKOFF, capMs: URGENT.waitMs } : UNREACHABLE_BACKOFF;
}

/** Timeout of the next try. */
export function tryMs({ urgent }: ReconnectState): number {
  return urgent ? URGENT.tryMs : PATIENT_TRY_MS;
}

/**
 * Sets whether the connection is needed at once.
 * @param dueAt start of the next attempt; null: an attempt is running, or the connection is up
 * @returns the new start: still spread, and later for a problem that a person must fix
 */
export function noteUrgency(
  state: ReconnectState,
  urgent: boolean,
  dueAt: number | null,
  now: number,
): { state: ReconnectState; dueAt: number | null } {
  const next = { ...state, urgent };
  if (!urgent || state.urgent || dueAt === null) return { state: next, dueAt };
  const { waitMs, seed } = state.isSlow
    ? drawBackoff(URGENT_SLOW_BACKOFF, 1, state.seed)
    : drawWithin(unreachableBackoff(next), URGENT.waitMs, state.seed);
  return { state: { ...next, seed }, dueAt: Math.min(dueAt, now + waitMs) };
}
