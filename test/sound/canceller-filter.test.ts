import { beforeAll, describe, expect, it } from 'vitest';
import { createCancelledRoom, expectVisitorThrough, isGone, withVisitor } from './cancelled-room.ts';

/** Three sentences, with a visitor speaking over the last; `canceller-filter.long.test.ts` has more sentences, paths and changes. */
const SECONDS = 12;

let talk: Awaited<ReturnType<typeof createCancelledRoom>>;
let visited: ReturnType<typeof withVisitor>;
beforeAll(async () => {
  talk = await createCancelledRoom(SECONDS);
  visited = withVisitor(talk);
});

describe('the canceller, from the second sentence on', () => {
  it('removes an echo of 60 ms, -6 dB and 80 ppm', () => {
    const { heard, left, delayMs, begin } = visited;
    const [second, ...later] = talk.judge(heard.subarray(0, begin), left.subarray(0, begin), delayMs);
    expect(later).toHaveLength(1);
    expect(second !== undefined && isGone(second)).toBe(true);
  });

  it('passes a visitor who is as loud as the echo', () => {
    expectVisitorThrough(visited);
  });
});
