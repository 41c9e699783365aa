import type { LaneState } from '../state.ts';
import type { StepContext } from '../step-context.ts';

/**
 * An account may have room for one stream only: a successor beside the live session is refused each time. That is learned
 * once and tried again now and then, because other devices may have been what took the room.
 */
const TRY_EACH_ROLLOVERS = 10;

/** A successor was refused because there is no room beside the live session. */
export function noteNoRoom(context: StepContext): void {
  context.set({ rolloversWithoutRoom: 0 });
}

/** A successor runs beside the live session. */
export function noteRoom(context: StepContext): void {
  context.set({ rolloversWithoutRoom: null });
}

/** Whether a successor would be refused as the last one was. */
export function lacksRoom({ rolloversWithoutRoom }: LaneState): boolean {
  return rolloversWithoutRoom !== null && rolloversWithoutRoom < TRY_EACH_ROLLOVERS - 1;
}

/** Counts a rollover that is begun without a try. */
export function countWithoutRoom(context: StepContext): void {
  context.set({ rolloversWithoutRoom: (context.state.rolloversWithoutRoom ?? 0) + 1 });
}
