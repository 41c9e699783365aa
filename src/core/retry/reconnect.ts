import type { BusProblem } from '../../ports/bus.ts';
import type { Seed } from '../random.ts';
import { type BackoffPolicy, drawBackoff, drawWithin } from './backoff.ts';

/**
 * The broker or the way to it is down: the bound is as long as the trouble has lasted, from the base to the cap. So a
 * short outage is never followed by a long wait, however many tries fell into it, and a long one brings no storm.
 */
export const UNREACHABLE_BACKOFF: BackoffPolicy = { floorMs: 50, baseMs: 1000, capMs: 120_000 };
/**
 * While the line is needed at once, a try gets this long, and the next one comes so soon: together, and with the time that a try takes
 * that succeeds, the line is back within 15 s after the broker can be reached again.
 */
export const URGENT = { tryMs: 8000, waitMs: 6000 } as const;
/** What a try gets otherwise. */
export const PATIENT_TRY_MS = 15_000;
/** A person must fix it, or another client holds our identifier and two would kick each other forever: slowly. */
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
  /** Why the last connection or try ended; null before the first. */
  readonly problem: BusProblem | null;
  /** Somebody speaks, or will soon need a token: no wait is long. */
  readonly urgent: boolean;
  readonly seed: Seed;
}

/** This many quick closes in a row are no accident: most likely another client has the same identifier. */
export const SUSPICIOUS_QUICK_CLOSES = 3;

export function beginReconnect(seed: Seed): ReconnectState {
  return {
    failures: 0,
    troubleSince: null,
    upSince: null,
    quickCloses: 0,
    problem: null,
    urgent: false,
    seed,
  };
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
  const { problem } = ending;
  const drawn =
    problem === 'unreachable'
      ? drawWithin(unreachableBackoff(state), now - troubleSince, state.seed)
      : drawBackoff(SLOW_BACKOFF, failures, state.seed);
  return {
    state: { ...state, failures, troubleSince, upSince: null, quickCloses, problem, seed: drawn.seed },
    waitMs: drawn.waitMs,
  };
}

function unreachableBackoff({ urgent }: ReconnectState): BackoffPolicy {
  return urgent ? { ...UNREACHABLE_BACKOFF, capMs: URGENT.waitMs } : UNREACHABLE_BACKOFF;
}

/** How long the next try may take. */
export function tryMs({ urgent }: ReconnectState): number {
  return urgent ? URGENT.tryMs : PATIENT_TRY_MS;
}

/**
 * Whether the line is needed at once, from now on.
 * @param dueAt when the next try begins; null: one is under way, or the line is up
 * @returns when it begins now: still spread, and never sooner where a person has to help
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
