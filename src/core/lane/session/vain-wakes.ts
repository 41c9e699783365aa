import type { LaneState } from '../state.ts';
import type { StepContext } from '../step-context.ts';

/**
 * A wake is in vain if the service said nothing before the lane fell asleep again: what was taken for speech was none.
 * The same room will do it again, so that it takes more to wake the lane for an hour, and the owner hears of it.
 */

const FORGOTTEN_AFTER_MS = 3_600_000;
/** This many within an hour are told of; this few again are no trouble any more. */
const TOLD_FROM = 4;
const OVER_AT = 1;
const FINDING = 'noisy_room';

/** Times at which the lane woke in vain within the last hour. */
function vainWakesOfLate({ vainWakes }: Pick<LaneState, 'vainWakes'>, now: number): readonly number[] {
  const [oldest] = vainWakes;
  if (oldest === undefined || now - oldest < FORGOTTEN_AFTER_MS) return vainWakes;
  return vainWakes.filter((at) => now - at < FORGOTTEN_AFTER_MS);
}

/** A voice seems to have woken the lane. */
export function noteWake(context: StepContext): void {
  context.set({ isUnanswered: true });
}

/** The service has said something: it was a voice. */
export function noteAnswer(context: StepContext): void {
  if (context.state.isUnanswered) context.set({ isUnanswered: false });
}

/** The lane falls asleep. */
export function attendSleep(context: StepContext): void {
  const { isUnanswered, captureFindings, roomDb } = context.state;
  if (!isUnanswered) return;
  const vainWakes = [...vainWakesOfLate(context.state, context.now), context.now];
  context.set({ isUnanswered: false, vainWakes });
  if (vainWakes.length < TOLD_FROM || captureFindings.includes(FINDING)) return;
  context.set({ captureFindings: [...captureFindings, FINDING] });
  const room = roomDb === null ? '' : `; the room is at ${roomDb} dBFS`;
  const message = `sound of which the service made nothing has woken the lane ${vainWakes.length} times within an hour${room}`;
  context.notify('capture_problem', { finding: FINDING, message });
}

/** Sound is heard: what was long ago counts no more, also for a lane that never sleeps any more. */
export function forgetVainWakes(context: StepContext): void {
  const { state, now } = context;
  const ofLate = vainWakesOfLate(state, now);
  if (ofLate === state.vainWakes) return;
  context.set({ vainWakes: ofLate });
  if (ofLate.length > OVER_AT || !state.captureFindings.includes(FINDING)) return;
  context.set({ captureFindings: state.captureFindings.filter((known) => known !== FINDING) });
  const message = 'the lane is not woken any more by sound that is no speech';
  context.notify('capture_problem_over', { finding: FINDING, message });
}
