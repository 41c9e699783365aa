import { describe, expect, it } from 'vitest';
import { createSpectrum, transformLength } from '../../../src/core/audio/fourier.ts';

const SIZE = 64;

describe('a spectrum', () => {
  it('has a wave in its own place', () => {
    const re = Float64Array.from({ length: SIZE }, (_, at) => Math.cos((2 * Math.PI * 5 * at) / SIZE));
    const im = new Float64Array(SIZE);
    createSpectrum(SIZE).forward(re, im);
    for (let bin = 0; bin < SIZE; bin++) {
      expect(re[bin]).toBeCloseTo(bin === 5 || bin === SIZE - 5 ? SIZE / 2 : 0, 9);
      expect(im[bin]).toBeCloseTo(0, 9);
    }
  });

  it('goes there and back', () => {
    const re = Float64Array.from({ length: SIZE }, (_, at) => (at * 37) % 11);
    const im = Float64Array.from({ length: SIZE }, (_, at) => (at * 17) % 7);
    const [beforeRe, beforeIm] = [re.slice(), im.slice()];
    const spectrum = createSpectrum(SIZE);
    spectrum.forward(re, im);
    spectrum.inverse(re, im);
    for (let at = 0; at < SIZE; at++) {
      expect(re[at]).toBeCloseTo(beforeRe[at] ?? 0, 9);
      expect(im[at]).toBeCloseTo(beforeIm[at] ?? 0, 9);
    }
  });

  it.each([0, 1, 48, 2.5])('has no size of %s', (size) => {
    expect(() => createSpectrum(size)).toThrow(RangeError);
  });
});

describe('the length of a transform', () => {
  it.each([
    [0, 2],
    [2, 2],
    [3, 4],
    [4096, 4096],
    [4097, 8192],
  ])('for %i samples is %i', (samples, length) => {
    expect(transformLength(samples)).toBe(length);
    expect(createSpectrum(length).size).toBe(length);
  });
});
