import type { LaneHarness } from './lane-harness.ts';

/** Places of the captured sounds in the sends of a stream. */
export function heardBy(lane: LaneHarness, stream: number): (number | null)[] {
  return lane
    .all('send_audio')
    .filter((sent) => sent.stream === stream)
    .map(({ capturedAt }) => capturedAt);
}
