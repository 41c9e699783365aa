import { describe, expect, it } from 'vitest';
import { seededRandom } from '../../src/core/random.ts';
import { createSpectrum, transformLength } from '../../src/sound/fourier.ts';
import { createRealSpectrum } from '../../src/sound/real-spectrum.ts';

const SIZE = 64;

type Values = { re: Float64Array; im: Float64Array };

function drawn(size: number, seed: number): Values {
  const next = seededRandom(seed);
  const make = () => Float64Array.from({ length: size }, () => next() * 2 - 1);
  return { re: make(), im: make() };
}

/** The textbook transform, recursively. */
function byHalves({ re, im }: Values): Values {
  const size = re.length;
  if (size === 1) return { re, im };
  const [even, odd] = [0, 1].map((first) =>
    byHalves({
      re: re.filter((_, at) => at % 2 === first),
      im: im.filter((_, at) => at % 2 === first),
    }),
  ) as [Values, Values];
  const made: Values = { re: new Float64Array(size), im: new Float64Array(size) };
  for (let low = 0, high = size / 2; low < size / 2; low++, high++) {
    const cosine = Math.cos((2 * Math.PI * low) / size);
    const sine = -Math.sin((2 * Math.PI * low) / size);
    const [oddRe = 0, oddIm = 0] = [odd.re[low], odd.im[low]];
    const [evenRe = 0, evenIm = 0] = [even.re[low], even.im[low]];
    const turnedRe = oddRe * cosine - oddIm * sine;
    const turnedIm = oddRe * sine + oddIm * cosine;
    made.re[low] = evenRe + turnedRe;
    made.im[low] = evenIm + turnedIm;
    made.re[high] = evenRe - turnedRe;
    made.im[high] = evenIm - turnedIm;
  }
  return made;
}

/** Zero has no sign here. */
const plain = (values: Float64Array): number[] => Array.from(values, (value) => value + 0);

describe('a spectrum', () => {
  it('shows a wave at its own frequency', () => {
    const re = Float64Array.from({ length: SIZE }, (_, at) => Math.cos((2 * Math.PI * 5 * at) / SIZE));
    const im = new Float64Array(SIZE);
    createSpectrum(SIZE).forward(re, im);
    for (let bin = 0; bin < SIZE; bin++) {
      expect(re[bin]).toBeCloseTo(bin === 5 || bin === SIZE - 5 ? SIZE / 2 : 0, 9);
      expect(im[bin]).toBeCloseTo(0, 9);
    }
  });

  it('is inverted exactly', () => {
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

  it.each([2, 4, 8, 16, 32, 256, 512, 1024])(
    'equals the textbook transform to the last bit, for %i values',
    (size) => {
      const { re, im } = drawn(size, size);
      const expected = byHalves({ re, im });
      const spectrum = createSpectrum(size);
      const [made, back] = [
        { re: re.slice(), im: im.slice() },
        { re: im.slice(), im: re.slice() },
      ];
      spectrum.forward(made.re, made.im);
      expect(plain(made.re)).toEqual(plain(expected.re));
      expect(plain(made.im)).toEqual(plain(expected.im));
      // Swap, transform, swap, and divide.
      spectrum.inverse(back.re, back.im);
      expect(plain(back.im)).toEqual(plain(expected.re.map((value) => value / size)));
      expect(plain(back.re)).toEqual(plain(expected.im.map((value) => value / size)));
    },
  );

  it.each([0, 1, 48, 2.5])('rejects the size %s', (size) => {
    expect(() => createSpectrum(size)).toThrow(RangeError);
  });
});

describe('a spectrum of real sound', () => {
  it.each([4, 8, 64, 512])(
    'equals the complex transform without an imaginary part, for %i values',
    (size) => {
      const { re: time } = drawn(size, size);
      const expected = byHalves({ re: time, im: new Float64Array(size) });
      const spectrum = createRealSpectrum(size);
      const [re, im] = [new Float64Array(spectrum.bins), new Float64Array(spectrum.bins)];
      spectrum.forward(time, re, im);
      for (let bin = 0; bin < spectrum.bins; bin++) {
        expect(re[bin]).toBeCloseTo(expected.re[bin] ?? Number.NaN, 10);
        expect(im[bin]).toBeCloseTo(expected.im[bin] ?? Number.NaN, 10);
      }
      const back = new Float64Array(size);
      spectrum.inverse(re, im, back);
      for (let at = 0; at < size; at++) expect(back[at]).toBeCloseTo(time[at] ?? Number.NaN, 10);
    },
  );
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
