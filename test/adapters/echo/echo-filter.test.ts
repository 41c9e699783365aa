import { beforeAll, describe, expect, it } from 'vitest';
import { createEchoFilter } from '../../../src/adapters/echo/echo-filter.ts';
import { cancellerBlock } from '../../../src/sound/canceller/canceller-filter.ts';
import { toPcm } from '../../../src/sound/pcm.ts';
import { type Talk, VOICE_RATE_HZ } from '../../acoustics.ts';
import { expectLeftAlone, expectTakenOut, loadTalk } from './filtered-talk.ts';

/** Three sentences; four, and more paths, are in `echo-filter.long.test.ts`. */
const SECONDS = 10;
const PATH = { delayMs: 120, gainDb: -12, rt60S: 0.4 };

let talk: Talk;
beforeAll(async () => {
  talk = await loadTalk(SECONDS);
});

describe('the echo filter', () => {
  it('removes an echo of 120 ms and -12 dB', async () => {
    await expectTakenOut(talk, PATH, 0);
  });

  it('does not change or move a visitor’s speech while nothing is played', async () => {
    await expectLeftAlone(talk.people);
  });

  it.each([8000, 16_000, 22_050, 44_100, 48_000])(
    'returns as much sound as it gets at %i Hz',
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
        // The time is that of the last output sample: less the canceller's delay and the sound that it kept.
        const keptMs = ((given - taken) * 1000) / rateHz;
        const delayMs = (given * 1000) / rateHz - keptMs - out.capturedAt;
        expect(delayMs).toBeCloseTo((cancellerBlock(rateHz) * 1000) / rateHz, 6);
        expect(delayMs).toBeLessThan(12);
      }
    },
  );
});
