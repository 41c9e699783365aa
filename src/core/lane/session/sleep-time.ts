import type { LaneState } from '../state.ts';

/** A service that has understood something says so within this time; a lane that woke for something else need not wait on. */
export const UNANSWERED_MS = 10_000;

/** When the lane may fall asleep, if nobody speaks meanwhile. */
export function sleepsAt({ options, lastVoiceAt, isUnanswered }: LaneState): number {
  const { standbyAfterMs } = options;
  return lastVoiceAt + (isUnanswered ? Math.min(standbyAfterMs, UNANSWERED_MS) : standbyAfterMs);
}
