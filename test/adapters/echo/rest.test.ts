import { beforeAll, describe, expect, it } from 'vitest';
import { createEchoFilter } from '../../../src/adapters/echo/echo-filter.ts';
import { cancellerBlock } from '../../../src/core/audio/canceller/canceller.ts';
import { toPcm } from '../../../src/core/audio/pcm.ts';
import { levelDb, type Talk, talk, through, together, VOICE_RATE_HZ } from '../../acoustics.ts';
import { clean, likeness, lossDb } from './filtered-room.ts';

const SECONDS = 20;
/** The loudspeaker speaks, is silent, and speaks again; seconds. */
const SILENT = { from: 8, until: 14 };
const PATH = { delayMs: 120, gainDb: -12, rt60S: 0.4 };

let people: Talk['people'];
let said: Talk['said'];
let room: Talk['room'];
beforeAll(async () => {
  ({ people, said, room } = await talk(SECONDS, -65));
  said = only(said, (second) => second < SILENT.from || second >= SILENT.until);
});

function only(sound: Float32Array, when: (second: number) => boolean): Float32Array {
  return sound.map((sample, index) => (when(index / VOICE_RATE_HZ) ? sample : 0));
}

/** The steepest step between two samples. */
function steepest(sound: Float32Array, fromS: number, untilS: number): number {
  let most = 0;
  for (let at = Math.round(fromS * VOICE_RATE_HZ); at < untilS * VOICE_RATE_HZ; at++)
    most = Math.max(most, Math.abs((sound[at + 1] ?? 0) - (sound[at] ?? 0)));
  return most;
}

describe('an echo filter that has nothing to do', () => {
  it.each([8000, 16_000, 24_000, 48_000])(
    'gives back the very samples of %i Hz, as late as it always does',
    async (rateHz) => {
      const filter = createEchoFilter({ heardRateHz: rateHz, playedRateHz: VOICE_RATE_HZ });
      const given = toPcm(people.subarray(0, rateHz * 2));
      const taken: number[] = [];
      const pieceBytes = (rateHz / 50) * 2;
      for (let at = 0; at < given.byteLength; at += pieceBytes) {
        const capturedAt = ((at + pieceBytes) * 500) / rateHz;
        const out = filter.filter(given.slice(at, at + pieceBytes), capturedAt);
        taken.push(...out.pcm);
      }
      expect(filter.rests).toBe(true);
      const late = 2 * cancellerBlock(rateHz);
      expect(taken.slice(0, late)).toEqual(Array(late).fill(0));
      expect(taken.slice(late)).toEqual([...given.subarray(0, given.byteLength - late)]);
    },
  );

  it('rests from two seconds behind the loudspeaker until it is told of the next sound', async () => {
    const { rests } = await clean({ played: said, heard: room });
    expect(rests).toHaveLength(1);
    expect(rests[0]?.from).toBeCloseTo(SILENT.from + 2, 0);
    expect(rests[0]?.until).toBeCloseTo(SILENT.until - 0.2, 0);
  });

  it('wakes as good as it was', async () => {
    const heard = together(through(PATH, said), room);
    const { left } = await clean({ played: said, heard });
    // What was learnt before the rest holds from the first half second on.
    expect(lossDb(heard, left, 4, SILENT.from)).toBeGreaterThan(22);
    expect(lossDb(heard, left, SILENT.until + 0.6, SILENT.until + 2)).toBeGreaterThan(25);
    expect(lossDb(heard, left, SILENT.until + 2, SECONDS)).toBeGreaterThan(25);
  });

  it('goes from one to the other in the middle of a word, and nobody hears it', async () => {
    const visitor = only(people, (second) => second > 8.5 && second < 14);
    const heard = together(through(PATH, said), visitor, room);
    const { left, rests } = await clean({ played: said, heard, pieceMs: 20 });
    const [rest] = rests;
    if (rest === undefined) throw new Error('it never rested');
    expect(levelDb(visitor, 9, 13.7) - levelDb(left, 9, 13.7)).toBeCloseTo(0, 1);
    for (const change of [rest.from, rest.until]) {
      expect(levelDb(visitor, change - 0.2, change + 0.2)).toBeGreaterThan(-32);
      expect(likeness(visitor, left, change - 0.2, change + 0.2)).toBeGreaterThan(0.98);
    }
    expect(likeness(visitor, left, rest.from + 0.1, rest.until - 0.1)).toBeGreaterThan(0.999);
    expect(steepest(left, 9, 13.7)).toBeLessThan(steepest(visitor, 9, 13.7) * 1.05);
  });
});
