import type { BusProblem } from '../../ports/bus.ts';
import type { Seed } from '../random.ts';
import { type BackoffPolicy, drawBackoff, drawWithin } from './backoff.ts';

/**
 * The broker or the way to it is down: the bound is as long as the trouble has lasted, from the base to the cap. So a
 * short outage is never followed by a long wait, however many tries fell into it, and a long one brings no storm.
 */
export const UNREACHABLE_BACKOFF: BackoffPolicy = { floorMs: 50, baseMs: 1000, capMs: 120_000 };
/**
 * While the connection is needed at once, a try gets this long, and the next one comes so soon: together, and with the time that a try takes
 * that succeeds, the connection is back within 15 s after the broker can be reached again.
 */
export const URGENT = { tryMs: 8000, waitMs: 6000 } as const;
/** What a try gets otherwise. */
export const PATIENT_TRY_MS = 15_000;
/** A person must fix it: slowly. */
export const SLOW_BACKOFF: BackoffPolicy = { floorMs: 30_000, baseMs: 60_000, capMs: 300_000 };
/** Another client connects with our identifier, and the two would end each other's connections forever. */
export const TAKEN_OVER_BACKOFF: BackoffPolicy = { floorMs: 60_000, baseMs: 300_000, capMs: 300_000 };
/** A connection that lasted this long, twice the other client's longest wait, has proven that the other one is gone. */
export const UNDISPUTED_AFTER_MS = 600_000;
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
  /**
   * Connections in a row that the broker closed without a word, soon after it had accepted them; after the second of them
   * soon is ten minutes, because another client that has noticed us waits minutes before it comes back.
   */
  readonly quickCloses: number;
  /** A session that the broker should have kept for us was gone: another client may have begun one of its own. */
  readonly hasLostSession: boolean;
  /** Another client has taken our identifier, and no connection has lasted since. */
  readonly isDisputed: boolean;
  /** Why the last connection or try ended; null before the first. */
  readonly problem: BusProblem | null;
  /** Somebody speaks, or will soon need a token: no wait is long. */
  readonly urgent: boolean;
  readonly seed: Seed;
}

/**
 * This many quick closes in a row count as another client with the same identifier: MQTT 3.1.1 knows no better sign.
 * MQTT 5 has a reason for it, which not every broker tells (mosquitto 2.0.11 does not): there a lost session has to
 * bear witness too, because a network that cuts connections looks the same.
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

/** @param isSessionLost the broker has nothing of a session that it should have kept */
export function noteUp(state: ReconnectState, now: number, isSessionLost = false): ReconnectState {
  return { ...state, upSince: now, hasLostSession: state.hasLostSession || isSessionLost };
}

/** Somebody else has been seen under our name. */
export function noteOther(state: ReconnectState): ReconnectState {
  return { ...state, isDisputed: true };
}

/** How an attempt or a connection ended. */
export interface ConnectionEnding {
  readonly problem: BusProblem;
  readonly protocol: 4 | 5;
  /** Closed without a word. */
  readonly silent?: true;
  /** The broker had accepted the client, and the subscriptions were not in place yet. */
  readonly early?: true;
}

/**
 * After an attempt failed or a connection ended: how long to wait for the next attempt.
 * @returns `problem`: what it is, with what earlier endings tell
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
  // It may have been closed for a subscription, or by another client that was quicker still.
  if (lastedMs === null) return early === true ? quickCloses : 0;
  const isSuspicious = quickCloses >= SUSPICIOUS_QUICK_CLOSES - 1;
  return lastedMs < (isSuspicious ? UNDISPUTED_AFTER_MS : STABLE_AFTER_MS) ? quickCloses + 1 : 0;
}

function unreachableBackoff({ urgent }: ReconnectState): BackoffPolicy {
  return urgent ? { ...UNREACHABLE_BACKOFF, capMs: URGENT.waitMs } : UNREACHABLE_BACKOFF;
}

/** How long the next try may take. */
export function tryMs({ urgent }: ReconnectState): number {
  return urgent ? URGENT.tryMs : PATIENT_TRY_MS;
}

/**
 * Whether the connection is needed at once, from now on.
 * @param dueAt when the next try begins; null: one is under way, or the connection is up
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
