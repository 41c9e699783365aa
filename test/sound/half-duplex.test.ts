import { beforeAll, describe, expect, it } from 'vitest';
import { toPcm } from '../../src/sound/pcm.ts';
import { levelDb } from '../acoustics.ts';
import {
  type Conversation,
  converse,
  expectNothingPasses,
  expectTailEnough,
  FROM_MS,
  HEARD_DB,
  listen,
} from './half-duplex.ts';

let conversation: Conversation;
beforeAll(async () => {
  conversation = await converse();
});

describe('half-duplex', () => {
  it.each([
    { delayMs: 20, gainDb: 0, rt60S: 0.5 },
    { delayMs: 400, gainDb: -30, rt60S: 0.5 },
  ])('passes no loudspeaker sound after a measurement: $delayMs ms and $gainDb dB', (path) => {
    expectNothingPasses(conversation, path);
  });

  it.each([
    [20, -30],
    [200, -12],
  ])('has a long enough tail without a measurement: %i ms and %i dB', (delayMs, gainDb) => {
    expectTailEnough(conversation, delayMs, gainDb);
  });

  it('would pass an echo of 400 ms without a measurement', () => {
    expect(listen(conversation, { delayMs: 400, gainDb: 0, rt60S: 0.5 }, false).lateDb).toBeGreaterThan(
      HEARD_DB,
    );
  });

  it('is tested with sound: each sentence stands out from the room', () => {
    const { said, room, stretches } = conversation;
    const above = stretches.map(({ from, until }) => {
      const sentence = levelDb(said, (from - FROM_MS) / 1000, (until - FROM_MS) / 1000);
      return sentence - levelDb(room);
    });
    expect(Math.min(...above)).toBeGreaterThan(25);
    expect(toPcm(said).byteLength).toBe(said.length * 2);
  });
});
