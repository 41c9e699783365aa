import { draw } from '../../random.ts';
import { backoffBound } from '../../retry/backoff.ts';
import { PATIENCE, type Patience } from '../../retry/recovery.ts';
import type { LaneState } from '../state.ts';
import type { StepContext } from '../step-context.ts';

/** A wait that ends sooner when somebody speaks. */
export interface Wait {
  readonly timer: 'retry' | 'token';
  /** Not before this, however much is said. */
  readonly earliestAt: number;
  /** Spread over this much, because many devices may hear a voice at one time. */
  readonly spreadMs: number;
}

/** While people speak, tries begin this far apart, once their spacing has grown. */
export const VOICE_SPACING_MS = 15_000;
const SPREAD_MS = 3000;
/** Whoever spoke so lately waits for what was said. */
const SPOKE_LATELY_MS = 10_000;
/** Devices that were all asked to wait for the same time come back over this share of it. */
const ASKED_SPREAD_SHARE = 0.1;

/**
 * The lane waits for its next try; a parked one has to be helped by a person, not by a voice.
 * @returns how long it waits if nobody speaks, milliseconds
 */
export function waitForRetry(
  context: StepContext,
  waitMs: number,
  patience: Patience,
  askedMs: number,
): number {
  const spacing = { ...PATIENCE[patience], capMs: VOICE_SPACING_MS };
  const earliestAt = context.now + Math.max(askedMs, backoffBound(spacing, context.state.failures));
  const spreadMs = Math.max(SPREAD_MS, askedMs * ASKED_SPREAD_SHARE);
  context.set({ wait: patience === 'parked' ? null : { timer: 'retry', earliestAt, spreadMs } });
  return begin(context, 'retry', waitMs);
}

/** The lane waits for the backend's answer, and asks again when it does not come. */
export function waitForAnswer(context: StepContext, waitMs: number, patienceMs: number): void {
  const earliestAt = context.now + Math.min(VOICE_SPACING_MS, patienceMs);
  context.set({ wait: { timer: 'token', earliestAt, spreadMs: SPREAD_MS } });
  begin(context, 'token', waitMs);
}

function begin(context: StepContext, timer: Wait['timer'], waitMs: number): number {
  context.arm(timer, context.now + waitMs);
  if (context.now - context.state.lastVoiceAt < SPOKE_LATELY_MS) hurry(context);
  return Math.round((context.state.timers[timer] ?? context.now) - context.now);
}

/** Somebody speaks and nobody translates: what is waited for may be back by now. Counts once for each wait. */
export function hurry(context: StepContext): void {
  const { wait, timers, seed } = context.state;
  if (wait === null) return;
  const dueAt = timers[wait.timer];
  const earliestAt = Math.max(context.now, wait.earliestAt);
  if (dueAt === null || dueAt <= earliestAt) return;
  const drawn = draw(seed);
  context.set({ wait: null, seed: drawn.seed });
  const at = earliestAt + drawn.value * wait.spreadMs;
  if (at < dueAt) context.arm(wait.timer, at);
}

/** A session that ends so soon will need its successor's token. */
const ENDS_SOON_MS = 60_000;

/** Whether the lane may need the backend at any moment: somebody speaks, or its session nears its limit. */
export function needsBackend({ wanted, hold, lastVoiceAt, stream }: LaneState, now: number): boolean {
  const endsSoon = stream?.limitAt != null && stream.limitAt - now < ENDS_SOON_MS;
  return wanted && hold === null && (now - lastVoiceAt < SPOKE_LATELY_MS || endsSoon);
}

/** When the lane tries again by itself; null: it waits for nothing. */
export function nextTryAt({ timers }: LaneState): number | null {
  return timers.retry ?? timers.token;
}
