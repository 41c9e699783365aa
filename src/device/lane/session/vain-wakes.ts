import type { LaneState } from '../state/lane-state.ts';
import type { StepContext } from '../state/step-context.ts';

/**
 * A wake is in vain if the service sends no transcript before the lane sleeps again. The same room will wake the lane again, so
 * for an hour the lane needs more sound to wake. Several wakes in vain are reported to the owner.
 */

/** How long a wake in vain counts (ms): about as long as a noisy visit lasts. */
const COUNTED_MS = 3_600_000;
/** Number of vain wakes within that time from which the problem is reported. */
const REPORTED_FROM = 4;
/** Number of vain wakes within that time at which the problem is over. */
const OVER_AT = 1;
const FINDING = 'noisy_room';

function recent({ vainWakes }: Pick<LaneState, 'vainWakes'>, now: number): readonly number[] {
  const [oldest] = vainWakes;
  return oldest === undefined || now - oldest < COUNTED_MS
    ? vainWakes
    : vainWakes.filter((at) => now - at < COUNTED_MS);
}

/** A voice seems to have woken the lane. */
export function noteWake(context: StepContext): void {
  context.set({ isUnanswered: true });
}

/** The service has sent a text or sound: it was a voice. */
export function noteAnswer(context: StepContext): void {
  if (context.state.isUnanswered) context.set({ isUnanswered: false });
}

/** The lane goes to standby: counts the wake if it was in vain. */
export function noteSleep(context: StepContext): void {
  const { isUnanswered, captureFindings, roomDb } = context.state;
  if (!isUnanswered) return;
  const vainWakes = [...recent(context.state, context.now), context.now];
  context.set({ isUnanswered: false, vainWakes });
  if (vainWakes.length < REPORTED_FROM || captureFindings.includes(FINDING)) return;
  context.set({ captureFindings: [...captureFindings, FINDING] });
  const room = roomDb === null ? '' : `; the room is at ${roomDb} dBFS`;
  const message = `woken ${vainWakes.length} times in an hour by sound that the service did not recognise as speech${room}`;
  context.notify('capture_problem', { finding: FINDING, message });
}

/** Old wakes stop counting, even if the lane never sleeps again. */
export function forgetVainWakes(context: StepContext): void {
  const { state, now } = context;
  const vainWakes = recent(state, now);
  if (vainWakes === state.vainWakes) return;
  context.set({ vainWakes });
  if (vainWakes.length > OVER_AT || !state.captureFindings.includes(FINDING)) return;
  context.set({ captureFindings: state.captureFindings.filter((known) => known !== FINDING) });
  const message = 'sound that is not speech no longer wakes the lane';
  context.notify('capture_problem_over', { finding: FINDING, message });
}
