import { describe, expect, it } from 'vitest';
import { findTone } from '../../../src/core/doctor/test-tone.ts';
import { expectFound, fan, record } from './recorded-tone.ts';

describe('the test tone', () => {
  it.each([150, 400, 900])('is found in a room that sounds on for %i ms, whatever the room', (reverbMs) => {
    for (const seed of [1, 2, 3]) expectFound(reverbMs, seed);
  });

  it('is not found where it is not, however loud the noise', () => {
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
});
