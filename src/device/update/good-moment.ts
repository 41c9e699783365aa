import type { UpdateWindow } from '../../protocol/config-update.ts';
import { mayChangeLoudspeaker, mayChangeMicrophone } from '../lane/quiet-moment.ts';
import type { LaneState } from '../lane/state/lane-state.ts';

const MINUTES_PER_HOUR = 60;

/** Whether a restart interrupts no one: there is no conversation, no speech, no translation and no playback. */
export function disturbsNobody(lanes: readonly LaneState[], now: number): boolean {
  return lanes.every(
    (state) =>
      state.conversation === null && mayChangeMicrophone(state, now) && mayChangeLoudspeaker(state, now),
  );
}

/** @param minute of the local day; null: the clock is not set, and then the window is ignored */
export function isInWindow(window: UpdateWindow, minute: number | null): boolean {
  if (window === null || minute === null) return true;
  const [from, to] = [minutesOf(window.from), minutesOf(window.to)];
  return from < to ? minute >= from && minute < to : minute >= from || minute < to;
}

function minutesOf(time: string): number {
  const [hours = 0, minutes = 0] = time.split(':').map(Number);
  return hours * MINUTES_PER_HOUR + minutes;
}
