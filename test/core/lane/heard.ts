import type { World } from './world.ts';

/** Places of the captured sounds on a stream's wire. */
export function heardBy(world: World, stream: number): (number | null)[] {
  return world
    .all('send_audio')
    .filter((sent) => sent.stream === stream)
    .map(({ capturedAt }) => capturedAt);
}
