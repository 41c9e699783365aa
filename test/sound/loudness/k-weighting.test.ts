import { describe, expect, it } from 'vitest';
import { createWeightedSquares, loudnessOf, powerOf } from '../../../src/sound/loudness/k-weighting.ts';

function loudnessOfSine(hz: number, rateHz: number, amplitude = 1): number {
  const sine = Int16Array.from({ length: rateHz * 2 }, (_, at) =>
    Math.round(32_767 * amplitude * Math.sin((2 * Math.PI * hz * at) / rateHz)),
  );
  const squares = createWeightedSquares(rateHz);
  squares(sine, 0, rateHz);
  return loudnessOf(squares(sine, rateHz, 2 * rateHz) / rateHz);
}

describe('loudness', () => {
  it.each([16_000, 24_000, 48_000])(
    'matches the recommendation for a sine of 997 Hz at a rate of %d Hz',
    (rateHz) => {
      expect(loudnessOfSine(997, rateHz)).toBeCloseTo(-3.01, 1);
      expect(loudnessOfSine(997, rateHz, 0.1)).toBeCloseTo(-23.01, 1);
    },
  );

  it('weighs low sound less and high sound more', () => {
    // Published curve, relative to 997 Hz: -6.6 dB at 38 Hz and the shelf, +3.3 dB at 5 kHz.
    expect(loudnessOfSine(38, 48_000) - loudnessOfSine(997, 48_000)).toBeCloseTo(-6.7, 0);
    expect(loudnessOfSine(5000, 48_000) - loudnessOfSine(997, 48_000)).toBeCloseTo(3.3, 0);
  });

  it('is converted to power and back', () => {
    for (const lufs of [-60, -23, -3]) expect(loudnessOf(powerOf(lufs))).toBeCloseTo(lufs, 9);
    expect(Number.isFinite(loudnessOf(0))).toBe(true);
  });
});
