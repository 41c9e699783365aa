import { draw } from '../../random.ts';
import { backoffBound } from '../../retry/backoff.ts';
import { PATIENCE, type Patience } from '../../retry/recovery.ts';
import { isAnswerAwaited } from '../../uplink/backlog.ts';
import type { LaneState } from '../state.ts';
import type { StepContext } from '../step-context.ts';
import { hearingStream, tokenRequestOf, type Wait } from './session.ts';

/** While people speak, tries begin this far apart, once their spacing has grown. */
export const VOICE_SPACING_MS = 15_000;
const SPREAD_MS = 3000;
/** Whoever spoke so lately may go on. */
const SPOKE_LATELY_MS = 10_000;
/** Devices that were all asked to wait for the same time come back over this share of it. */
const ASKED_SPREAD_SHARE = 0.1;

/**
 * The lane waits for its next try; a parked one has to be helped by a person, not by a voice.
 * @returns `waitMs`: how long it waits if nobody speaks
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

/** The lane waits for the backend's answer, and asks again when it does not come. */
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
  return isSomebodyWaiting(context.state, context.now) ? shorten(context, timer, wait) : wait;
}

/** Somebody speaks, or has said what is held since. */
function isSomebodyWaiting({ lastVoiceAt, backlog }: LaneState, now: number): boolean {
  return now - lastVoiceAt < SPOKE_LATELY_MS || isAnswerAwaited(backlog);
}

/** Cuts a wait short, once. Returns what may still be cut. */
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

/** Somebody speaks and nobody translates: what is waited for may be back by now. Counts once for each wait. */
export function hurry(context: StepContext): void {
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

/** A session that ends so soon will need its successor's token. */
const ENDS_SOON_MS = 60_000;

/** Whether the lane may need the backend at any moment: somebody waits for it, or its session nears its limit. */
export function needsBackend(state: LaneState, now: number): boolean {
  const { wanted, hold, session } = state;
  const limitAt = hearingStream(session)?.limitAt ?? Number.POSITIVE_INFINITY;
  const endsSoon = limitAt - now < ENDS_SOON_MS;
  return wanted && hold === null && (isSomebodyWaiting(state, now) || endsSoon);
}

/** When the lane tries again by itself; null: it waits for nothing. */
export function nextTryAt({ timers }: LaneState): number | null {
  return timers.retry ?? timers.token;
}
