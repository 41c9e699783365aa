import { describe, expect, it } from 'vitest';
import { findTone } from '../../../../../src/device/doctor/checks/playback/test-tone.ts';
import {
  expectDelayAndGain,
  expectFound,
  expectNotInSpeech,
  fan,
  type NamedRoom,
  record,
} from './recorded-tone.ts';

describe('the test tone', () => {
  it.each<NamedRoom>([
    ['at the usual distance', { delayMs: 80, gainDb: -20 }, 0.5],
    ['late, through a sound server', { delayMs: 400, gainDb: -18 }, 0.5],
    ['faint', { delayMs: 120, gainDb: -40, noiseDb: -75 }, 1],
    ['by a fast clock', { delayMs: 150, gainDb: -20, ppm: -300 }, 1.5],
    ['at 48 kHz', { delayMs: 90, gainDb: -20, rateHz: 48_000 }, 0.5],
    ['without any noise', { delayMs: 33, gainDb: -20, noiseDb: null }, 0.5],
  ])('is found %s: its delay and its gain', (...room) => {
    expectDelayAndGain(room);
  });

  it.each([150, 400, 900])('is found in a room with %i ms of reverberation', (reverbMs) => {
    for (const seed of [1, 2, 3]) expectFound(reverbMs, seed);
  });

  it('is not found when it is absent, however loud the noise', () => {
    for (const noiseDb of [-90, -60, -30, -10, null]) {
      for (let seed = 1; seed <= 5; seed++) {
        const silent = record({ gainDb: -200, noiseDb, seed });
        expect(findTone(silent, 24_000), `noise of ${noiseDb} dB, seed ${seed}`).toBeNull();
      }
    }
  });

  it('is not mistaken for a fan', () => {
    for (const seed of [1, 2, 3, 4, 5, 6])
      expect(findTone(fan(96_000, seed), 24_000), `seed ${seed}`).toBeNull();
  });

  it('is not mistaken for people talking', async () => {
    await expectNotInSpeech(1);
  });
});
