import { createSpectrum, valueAt } from './fourier.ts';

/** Fourier transforms of real sound: half the work and half the values of the complex transform. */
export interface RealSpectrum {
  readonly size: number;
  /** Number of bins from 0 Hz to half the rate, both included. */
  readonly bins: number;
  /** Time to frequency. */
  forward(time: Float64Array, re: Float64Array, im: Float64Array): void;
  /** Frequency to time, scaled so that it undoes `forward`; does not change `re` and `im`. */
  inverse(re: Float64Array, im: Float64Array, time: Float64Array): void;
}

/** @param size a power of two, 4 at least */
export function createRealSpectrum(size: number): RealSpectrum {
  const half = size / 2;
  const spectrum = createSpectrum(half);
  const evens = new Float64Array(half);
  const odds = new Float64Array(half);
  const cosines = Float64Array.from({ length: half + 1 }, (_, bin) => Math.cos((2 * Math.PI * bin) / size));
  const sines = Float64Array.from({ length: half + 1 }, (_, bin) => Math.sin((2 * Math.PI * bin) / size));
  return {
    size,
    bins: half + 1,
    forward(time, re, im) {
      for (let at = 0; at < half; at++) {
        evens[at] = valueAt(time, 2 * at);
        odds[at] = valueAt(time, 2 * at + 1);
      }
      spectrum.forward(evens, odds);
      const evenSum = valueAt(evens, 0);
      const oddSum = valueAt(odds, 0);
      re[0] = evenSum + oddSum;
      im[0] = 0;
      re[half] = evenSum - oddSum;
      im[half] = 0;
      // Two mirrored bins are computed from the same values.
      for (let bin = 1, mirror = half - 1; bin <= mirror; bin++, mirror--) {
        const evenRe = (valueAt(evens, bin) + valueAt(evens, mirror)) / 2;
        const evenIm = (valueAt(odds, bin) - valueAt(odds, mirror)) / 2;
        const oddRe = (valueAt(odds, bin) + valueAt(odds, mirror)) / 2;
        const oddIm = (valueAt(evens, mirror) - valueAt(evens, bin)) / 2;
        const cosine = valueAt(cosines, bin);
        const sine = valueAt(sines, bin);
        const mirrorCosine = valueAt(cosines, mirror);
        const mirrorSine = valueAt(sines, mirror);
        re[bin] = evenRe + cosine * oddRe + sine * oddIm;
        im[bin] = evenIm + cosine * oddIm - sine * oddRe;
        re[mirror] = evenRe + mirrorCosine * oddRe - mirrorSine * oddIm;
        im[mirror] = -evenIm - mirrorCosine * oddIm - mirrorSine * oddRe;
      }
    },
    inverse(re, im, time) {
      for (let bin = 0; bin < half; bin++) {
        const mirror = half - bin;
        const evenRe = (valueAt(re, bin) + valueAt(re, mirror)) / 2;
        const evenIm = (valueAt(im, bin) - valueAt(im, mirror)) / 2;
        const restRe = (valueAt(re, bin) - valueAt(re, mirror)) / 2;
        const restIm = (valueAt(im, bin) + valueAt(im, mirror)) / 2;
        const cosine = valueAt(cosines, bin);
        const sine = valueAt(sines, bin);
        const oddRe = cosine * restRe - sine * restIm;
        const oddIm = cosine * restIm + sine * restRe;
        evens[bin] = evenRe - oddIm;
        odds[bin] = evenIm + oddRe;
      }
      spectrum.inverse(evens, odds);
      for (let at = 0; at < half; at++) {
        time[2 * at] = valueAt(evens, at);
        time[2 * at + 1] = valueAt(odds, at);
      }
    },
  };
}
