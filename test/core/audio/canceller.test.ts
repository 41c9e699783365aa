import { beforeAll, describe, expect, it } from 'vitest';
import { levelDb, together } from '../../acoustics.ts';
import { createCancelledRoom, isGone } from './cancelled-room.ts';

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
    const path = { delayMs: 60, gainDb: -6, rt60S: 0.3 };
    const begin = talk.sentences[1]?.until ?? 0;
    const echo = talk.echoOf(path, 80);
    const loudness = levelDb(echo.subarray(begin)) - levelDb(talk.people.subarray(begin));
    const visitor = talk.people.map((sample, at) => (at < begin ? 0 : sample * 10 ** (loudness / 20)));
    const left = talk.cancel(together(echo, visitor, talk.room), 80);
    let [frames, sent, before, after] = [0, 0, 0, 0];
    for (let at = begin; at + 480 < left.length; at += 480) {
      const [was, is] = [visitor, left].map((sound) => levelDb(sound.subarray(at, at + 480)));
      if (was === undefined || is === undefined || was < levelDb(visitor.subarray(begin)) - 15) continue;
      frames += 1;
      if (is > was - 10) sent += 1;
      before += 10 ** (was / 10);
      after += 10 ** (is / 10);
    }
    expect(frames).toBeGreaterThan(100);
    expect(sent / frames).toBeGreaterThan(0.95);
    expect(Math.abs(10 * Math.log10(after / before))).toBeLessThan(3);
  });
});
