import { streamsOf } from './session/session.ts';
import type { LaneState } from './state.ts';

/** When each stream that is open now was opened. */
export function openSince(state: LaneState): readonly number[] {
  // Asked with each step, and flatMap is slow.
  const since: number[] = [];
  for (const { openedAt } of streamsOf(state)) if (openedAt !== null) since.push(openedAt);
  return since;
}

/** For how long the service has had a stream of the lane's open, of all streams together, milliseconds. */
export function billedMs(state: LaneState, now: number): number {
  return openSince(state).reduce((sum, openedAt) => sum + (now - openedAt), state.counts.streamMs);
}
