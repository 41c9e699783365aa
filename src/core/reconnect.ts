import type { BusProblem } from '../ports/bus.ts';
import { type BackoffPolicy, drawBackoff, drawWithin } from './backoff.ts';
import type { Seed } from './random.ts';

/**
 * The broker or the way to it is down: the bound is as long as the trouble has lasted, from the base to the cap. So a
 * short outage is never followed by a long wait, however many tries fell into it, and a long one brings no storm.
 */
export const UNREACHABLE_BACKOFF: BackoffPolicy = { floorMs: 50, baseMs: 1000, capMs: 120_000 };
/** A person must mend it, or another client holds our identifier and two would kick each other for ever: slowly. */
export const SLOW_BACKOFF: BackoffPolicy = { floorMs: 30_000, baseMs: 60_000, capMs: 300_000 };
/** Only a connection that lasted this long has proven that the trouble is over. */
export const STABLE_AFTER_MS = 60_000;

/** What is remembered between connections. */
export interface ReconnectState {
  /** Failures in a row since the last stable connection. */
  readonly failures: number;
  /** When the first of these failures was; null while there is none. */
  readonly troubleSince: number | null;
  /** When the present connection came up; null while there is none. */
  readonly upSince: number | null;
  /** Connections in a row that the broker accepted and soon closed without a word. */
  readonly quickCloses: number;
  readonly seed: Seed;
}

/** So many quick closes in a row are no accident: most likely another client has the same identifier. */
export const SUSPICIOUS_QUICK_CLOSES = 3;

export function beginReconnect(seed: Seed): ReconnectState {
  return { failures: 0, troubleSince: null, upSince: null, quickCloses: 0, seed };
}

export function noteUp(state: ReconnectState, now: number): ReconnectState {
  return { ...state, upSince: now };
}

/** After an attempt failed or a connection ended: how long to wait for the next attempt. */
export function noteDown(
  state: ReconnectState,
  ending: { readonly problem: BusProblem; readonly silent?: true },
  now: number,
): { state: ReconnectState; waitMs: number } {
  const wasStable = state.upSince !== null && now - state.upSince >= STABLE_AFTER_MS;
  const failures = (wasStable ? 0 : state.failures) + 1;
  const quick = state.upSince !== null && !wasStable && ending.silent === true;
  const quickCloses = quick ? state.quickCloses + 1 : 0;
  const troubleSince = wasStable ? now : (state.troubleSince ?? now);
  const drawn =
    ending.problem === 'unreachable'
      ? drawWithin(UNREACHABLE_BACKOFF, now - troubleSince, state.seed)
      : drawBackoff(SLOW_BACKOFF, failures, state.seed);
  return {
    state: { failures, troubleSince, upSince: null, quickCloses, seed: drawn.seed },
    waitMs: drawn.waitMs,
  };
}
