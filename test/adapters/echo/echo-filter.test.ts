import { beforeAll, describe, expect, it } from 'vitest';
import { createEchoFilter } from '../../../src/adapters/echo/echo-filter.ts';
import { cancellerBlock } from '../../../src/core/audio/canceller/canceller.ts';
import { toPcm } from '../../../src/core/audio/pcm.ts';
import { levelDb, type Path, type Talk, talk, through, together, VOICE_RATE_HZ } from '../../acoustics.ts';
import { clean, later, likeness, lossDb } from './filtered-room.ts';

/** Four sentences. */
const SECONDS = 14;

let people: Talk['people'];
let said: Talk['said'];
let room: Talk['room'];
beforeAll(async () => {
  ({ people, said, room } = await talk(SECONDS, -65));
});

const PATHS: Path[] = [
  { delayMs: 20, gainDb: -6, rt60S: 0.3 },
  { delayMs: 120, gainDb: -12, rt60S: 0.4 },
  { delayMs: 250, gainDb: -20, rt60S: 0.4 },
  { delayMs: 400, gainDb: 0, rt60S: 0.5 },
];

describe('the echo filter', () => {
  // How the words lie against the canceller's blocks changes nothing.
  it.each([
    ...PATHS.map((path) => ({ ...path, beginMs: 0 })),
    ...[10, 30].map((beginMs) => ({ delayMs: 20, gainDb: -6, rt60S: 0.3, beginMs })),
  ])(
    'takes out an echo of $delayMs ms and $gainDb dB, of words that begin $beginMs ms later',
    async ({ beginMs, ...path }) => {
      const played = later(said, beginMs);
      const heard = together(through(path, played), room);
      const { left, observations } = await clean({ played, heard });
      // Measured: 22 to 35 dB, where the noise of the room is nearly all that is left.
      expect(lossDb(heard, left, 3, SECONDS)).toBeGreaterThan(18);
      expect(observations).toBeLessThanOrEqual(1);
      expect(levelDb(left, 3, SECONDS)).toBeLessThan(-52);
    },
  );

  it.each(PATHS)(
    'lets a visitor through who speaks over an echo of $delayMs ms and $gainDb dB',
    async (path) => {
      const quiet = people.map((sample, index) => (index < 6 * VOICE_RATE_HZ ? 0 : sample));
      const heard = together(through(path, said), quiet, room);
      const { left } = await clean({ played: said, heard });
      const lostDb = levelDb(quiet, 6, SECONDS) - levelDb(left, 6, SECONDS);
      expect(lostDb).toBeLessThan(4);
      expect(likeness(quiet, left, 6, SECONDS - 0.1)).toBeGreaterThan(path.gainDb === 0 ? 0.6 : 0.8);
    },
  );

  it('leaves a visitor alone while nothing is played, and every sound in its place', async () => {
    const { left } = await clean({ played: new Float32Array(people.length), heard: people });
    expect(Math.abs(levelDb(people) - levelDb(left))).toBeLessThan(0.5);
    expect(likeness(people, left, 1, SECONDS - 0.1)).toBeGreaterThan(0.97);
  });

  it('keeps up with a loudspeaker whose clock is 300 ppm off, and with times that waver', async () => {
    const path = { delayMs: 150, gainDb: -10, rt60S: 0.3 };
    const heard = together(through(path, said), room);
    let wobble = 0;
    const { left } = await clean({
      played: said,
      heard,
      playedTime: (at) => at * (1 + 300e-6) + (wobble++ % 3) - 1,
    });
    expect(lossDb(heard, left, 5, SECONDS)).toBeGreaterThan(12);
  });

  it.each([8000, 16_000, 22_050, 44_100, 48_000])(
    'takes sound of %i Hz, as much as it gives',
    async (rateHz) => {
      const filter = createEchoFilter({ heardRateHz: rateHz, playedRateHz: VOICE_RATE_HZ });
      let given = 0;
      let taken = 0;
      for (let piece = 1; piece <= 50; piece++) {
        const samples = Math.round((piece * rateHz) / 12) - given;
        given += samples;
        const wave = Float32Array.from(
          { length: samples },
          (_, index) => 0.3 * Math.sin((2 * Math.PI * 300 * (given + index)) / rateHz),
        );
        const out = filter.filter(toPcm(wave), (given * 1000) / rateHz);
        taken += out.pcm.byteLength / 2;
        expect(taken).toBeLessThanOrEqual(given);
        expect(given - taken).toBeLessThan(cancellerBlock(rateHz));
        // The time is that of the last sample which came out: less the canceller's delay, and what it kept.
        const keptMs = ((given - taken) * 1000) / rateHz;
        const delayMs = (given * 1000) / rateHz - keptMs - out.capturedAt;
        expect(delayMs).toBeCloseTo((cancellerBlock(rateHz) * 1000) / rateHz, 6);
        expect(delayMs).toBeLessThan(12);
      }
    },
  );
});
