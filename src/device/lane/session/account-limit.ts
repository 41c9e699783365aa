import type { LaneState } from '../state/lane-state.ts';
import type { StepContext } from '../state/step-context.ts';

/**
 * An account may allow only one stream: then each second stream beside the live session is refused. The lane remembers that,
 * and tries again from time to time, because the limit may have been used up by other devices.
 */

/** Number of rollovers after which a second stream is tried again. */
const TRY_EACH_ROLLOVERS = 10;

/** The account had no room for a successor beside the live session. */
export function noteNoRoom(context: StepContext): void {
  context.set({ rolloversWithoutRoom: 0 });
}

/** A successor runs beside the live session. */
export function noteRoom(context: StepContext): void {
  context.set({ rolloversWithoutRoom: null });
}

/** Whether a successor would probably be refused like the last one. */
export function lacksRoom({ rolloversWithoutRoom }: LaneState): boolean {
  return rolloversWithoutRoom !== null && rolloversWithoutRoom < TRY_EACH_ROLLOVERS - 1;
}

/** Counts a rollover that does not try a second stream. */
export function countWithoutRoom(context: StepContext): void {
  context.set({ rolloversWithoutRoom: (context.state.rolloversWithoutRoom ?? 0) + 1 });
}
