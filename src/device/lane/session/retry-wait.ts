import { draw } from '../../../core/random.ts';
import { backoffBound } from '../../../core/retry/backoff.ts';
import type { LaneState } from '../state/lane-state.ts';
import { hearingStream, tokenRequestOf, type Wait } from '../state/session-state.ts';
import type { StepContext } from '../state/step-context.ts';
import { isAnswerAwaited } from '../uplink/backlog.ts';
import { PATIENCE, type Patience } from './recovery.ts';

/** Maximum interval between attempts while people speak (ms). */
export const VOICE_SPACING_MS = 15_000;
const SPREAD_MS = 3000;
/** How long a speaker is expected to go on after the last voice (ms). */
const SPOKE_LATELY_MS = 10_000;
/** Share of a requested wait over which the retry is spread: many devices may have been asked to wait equally long. */
const ASKED_SPREAD_SHARE = 0.1;

/**
 * Arms the wait for the next attempt. A voice does not shorten the wait of a parked lane, which needs manual action.
 * @returns `waitMs`: the wait if no voice is heard
 */
export function waitForRetry(
  context: StepContext,
  waitMs: number,
  patience: Patience,
  askedMs: number,
): { wait: Wait | null; waitMs: number } {
  const spacing = { ...PATIENCE[patience], capMs: VOICE_SPACING_MS };
  const earliestAt = context.now + Math.max(askedMs, backoffBound(spacing, context.state.failures));
  const spreadMs = Math.max(SPREAD_MS, askedMs * ASKED_SPREAD_SHARE);
  const wait = begin(context, 'retry', waitMs, patience === 'parked' ? null : { earliestAt, spreadMs });
  const dueAt = context.state.timers.retry ?? context.now;
  return { wait, waitMs: Math.round(dueAt - context.now) };
}

/** Arms the timeout for the backend's answer, after which the request is repeated. */
export function waitForAnswer(context: StepContext, waitMs: number, patienceMs: number): Wait | null {
  const earliestAt = context.now + Math.min(VOICE_SPACING_MS, patienceMs);
  return begin(context, 'token', waitMs, { earliestAt, spreadMs: SPREAD_MS });
}

function begin(
  context: StepContext,
  timer: 'retry' | 'token',
  waitMs: number,
  wait: Wait | null,
): Wait | null {
  context.arm(timer, context.now + waitMs);
  return isVisitorWaiting(context.state, context.now) ? shorten(context, timer, wait) : wait;
}

/** Whether a visitor speaks, or waits for the translation of held speech. */
function isVisitorWaiting({ lastVoiceAt, backlog }: LaneState, now: number): boolean {
  return now - lastVoiceAt < SPOKE_LATELY_MS || isAnswerAwaited(backlog);
}

/** Shortens a wait, once. Returns the wait that may still be shortened, or null. */
function shorten(context: StepContext, timer: 'retry' | 'token', wait: Wait | null): Wait | null {
  const { timers, seed } = context.state;
  const dueAt = timers[timer];
  if (wait === null || dueAt === null) return wait;
  const earliestAt = Math.max(context.now, wait.earliestAt);
  if (dueAt <= earliestAt) return wait;
  const drawn = draw(seed);
  context.set({ seed: drawn.seed });
  const at = earliestAt + drawn.value * wait.spreadMs;
  if (at < dueAt) context.arm(timer, at);
  return null;
}

/** A voice is heard without a session: retries sooner. Each wait is shortened once. */
export function shortenWaits(context: StepContext): void {
  const { session } = context.state;
  if (session.kind === 'waiting') {
    const wait = shorten(context, 'retry', session.wait);
    if (wait !== session.wait) context.become({ ...session, wait });
  }
  const request = tokenRequestOf(session);
  if (request === null) return;
  const wait = shorten(context, 'token', request.wait);
  if (wait !== request.wait) context.advanceSetup({ stage: 'acquiring', request: { ...request, wait } });
}

/** Remaining time of a session (ms) from which the token of its successor may be needed. */
const ENDS_SOON_MS = 60_000;

/** Whether the lane may need the backend at any moment: a visitor waits, or the session nears its limit. */
export function needsBackend(state: LaneState, now: number): boolean {
  const { wanted, hold, session } = state;
  const limitAt = hearingStream(session)?.limitAt ?? Number.POSITIVE_INFINITY;
  const endsSoon = limitAt - now < ENDS_SOON_MS;
  return wanted && hold === null && (isVisitorWaiting(state, now) || endsSoon);
}

/** When the lane tries again by itself; null: it does not wait. */
export function nextTryAt({ timers }: LaneState): number | null {
  return timers.retry ?? timers.token;
}
