import type { LaneState } from '../state.ts';
import { lastHeardAt } from './spoken-voice.ts';

/** A service that has understood something says so within this time; a lane that woke for something else need not wait on. */
export const UNANSWERED_MS = 10_000;

/** When the lane may fall asleep, if nobody speaks meanwhile. */
export function sleepsAt(state: LaneState): number {
  const { options, isUnanswered } = state;
  const { standbyAfterMs } = options;
  return lastHeardAt(state) + (isUnanswered ? Math.min(standbyAfterMs, UNANSWERED_MS) : standbyAfterMs);
}
