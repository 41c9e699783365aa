import { beforeAll, describe, expect, it } from 'vitest';
import { createCancelledRoom, expectVisitorThrough, isGone, withVisitor } from './cancelled-room.ts';

/** Three sentences, over the last of which a visitor speaks; more of them, more paths and what changes under way are in `canceller-filter.long.test.ts`. */
const SECONDS = 12;

let talk: Awaited<ReturnType<typeof createCancelledRoom>>;
let visited: ReturnType<typeof withVisitor>;
beforeAll(async () => {
  talk = await createCancelledRoom(SECONDS);
  visited = withVisitor(talk);
});

describe('the canceller, from the second sentence on', () => {
  it('takes out an echo of 60 ms, -6 dB and 80 ppm', () => {
    const { heard, left, delayMs, begin } = visited;
    const [second, ...later] = talk.judge(heard.subarray(0, begin), left.subarray(0, begin), delayMs);
    expect(later).toHaveLength(1);
    expect(second !== undefined && isGone(second)).toBe(true);
  });

  it('lets a visitor through who is as loud as the echo', () => {
    expectVisitorThrough(visited);
  });
});
