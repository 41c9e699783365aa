import { beforeAll, describe, expect, it } from 'vitest';
import { together } from '../../acoustics.ts';
import { createCancelledRoom, expectVisitorThrough, isGone } from './cancelled-room.ts';

/** Three sentences; more of them, more paths and what changes under way are in `canceller.long.test.ts`. */
const SECONDS = 12;

let talk: Awaited<ReturnType<typeof createCancelledRoom>>;
beforeAll(async () => {
  talk = await createCancelledRoom(SECONDS);
});

describe('the canceller, from the second sentence on', () => {
  it.each([{ delayMs: 120, gainDb: -12, rt60S: 0.4, ppm: -100 }])(
    'takes out an echo of $delayMs ms, $gainDb dB and $ppm ppm',
    ({ ppm, ...path }) => {
      const heard = together(talk.echoOf(path, ppm), talk.room);
      const sentences = talk.judge(heard, talk.cancel(heard, ppm), path.delayMs);
      expect(sentences).toHaveLength(2);
      for (const sentence of sentences) expect(isGone(sentence)).toBe(true);
    },
  );

  it('lets a visitor through who is as loud as the echo', () => {
    expectVisitorThrough(talk);
  });
});
