/** The fast Fourier transform, for correlations too long to be done sample by sample. */

/** Discrete Fourier transforms of one length, in place, without any allocation per transform. */
export interface Spectrum {
  readonly size: number;
  /** Time to frequency. */
  forward(re: Float64Array, im: Float64Array): void;
  /** Frequency to time, scaled so that it undoes `forward`. */
  inverse(re: Float64Array, im: Float64Array): void;
}

/** The next power of two, which the transform needs. */
export function transformLength(atLeast: number): number {
  return 2 ** Math.ceil(Math.log2(Math.max(2, atLeast)));
}

/**
 * A value at a valid index; it exists, but the compiler cannot know that. Accepts only one type of array: with several
 * types, the engine would check the type at each call, and a transform would take three times as long.
 */
export function valueAt(values: Float64Array, index: number): number {
  return values[index] ?? 0;
}

/** Number of values that pass several stages before the next ones, so that they stay in the processor's cache. */
const CACHED = 1024;

/** @param size a power of two */
export function createSpectrum(size: number): Spectrum {
  if (!Number.isInteger(Math.log2(size)) || size < 2) {
    throw new RangeError(`a spectrum's size must be a power of two, not ${size}`);
  }
  const cosines = new Float64Array(size / 2);
  const sines = new Float64Array(size / 2);
  for (let index = 0; index < size / 2; index++) {
    cosines[index] = Math.cos((2 * Math.PI * index) / size);
    sines[index] = -Math.sin((2 * Math.PI * index) / size);
  }
  const mirrored = mirroredPairs(size);
  const mirror = (values: Float64Array): void => {
    for (let pair = 0; pair < mirrored.length; pair += 2) {
      const one = mirrored[pair] ?? 0;
      const other = mirrored[pair + 1] ?? 0;
      const value = valueAt(values, one);
      values[one] = valueAt(values, other);
      values[other] = value;
    }
  };
  /** The first stage if the number of stages is odd: its factors are all 1. */
  const firstStage = (re: Float64Array, im: Float64Array): void => {
    for (let low = 0; low < size; low += 2) {
      const lowRe = valueAt(re, low);
      const lowIm = valueAt(im, low);
      const highRe = valueAt(re, low + 1);
      const highIm = valueAt(im, low + 1);
      re[low] = lowRe + highRe;
      im[low] = lowIm + highIm;
      re[low + 1] = lowRe - highRe;
      im[low + 1] = lowIm - highIm;
    }
  };
  /** Two stages at once (distance `half`, then twice that), which saves writing and reading the result of the first. */
  const twoStages = (re: Float64Array, im: Float64Array, half: number): void => {
    const stride = size / half / 4;
    const span = Math.max(4 * half, Math.min(size, CACHED));
    for (let from = 0; from < size; from += span) {
      for (let step = 0; step < half; step++) {
        const c1 = valueAt(cosines, 2 * step * stride);
        const s1 = valueAt(sines, 2 * step * stride);
        const c2 = valueAt(cosines, step * stride);
        const s2 = valueAt(sines, step * stride);
        const c3 = valueAt(cosines, (step + half) * stride);
        const s3 = valueAt(sines, (step + half) * stride);
        for (let a = from + step; a < from + span; a += 4 * half) {
          const b = a + half;
          const c = b + half;
          const d = c + half;
          const bRe = valueAt(re, b) * c1 - valueAt(im, b) * s1;
          const bIm = valueAt(re, b) * s1 + valueAt(im, b) * c1;
          const dRe = valueAt(re, d) * c1 - valueAt(im, d) * s1;
          const dIm = valueAt(re, d) * s1 + valueAt(im, d) * c1;
          const aRe = valueAt(re, a);
          const aIm = valueAt(im, a);
          const cRe = valueAt(re, c);
          const cIm = valueAt(im, c);
          const sumRe = (cRe + dRe) * c2 - (cIm + dIm) * s2;
          const sumIm = (cRe + dRe) * s2 + (cIm + dIm) * c2;
          const differenceRe = (cRe - dRe) * c3 - (cIm - dIm) * s3;
          const differenceIm = (cRe - dRe) * s3 + (cIm - dIm) * c3;
          re[a] = aRe + bRe + sumRe;
          im[a] = aIm + bIm + sumIm;
          re[b] = aRe - bRe + differenceRe;
          im[b] = aIm - bIm + differenceIm;
          re[c] = aRe + bRe - sumRe;
          im[c] = aIm + bIm - sumIm;
          re[d] = aRe - bRe - differenceRe;
          im[d] = aIm - bIm - differenceIm;
        }
      }
    }
  };

  const forward = (re: Float64Array, im: Float64Array): void => {
    mirror(re);
    mirror(im);
    const isOdd = Math.log2(size) % 2 === 1;
    if (isOdd) firstStage(re, im);
    for (let half = isOdd ? 2 : 1; half < size; half *= 4) twoStages(re, im, half);
  };
  return {
    size,
    forward,
    inverse(re, im) {
      // Swapping real and imaginary parts inverts the transform.
      forward(im, re);
      const share = 1 / size;
      for (let index = 0; index < size; index++) {
        re[index] = valueAt(re, index) * share;
        im[index] = valueAt(im, index) * share;
      }
    },
  };
}

/** Pairs of indexes whose bits are the reverse of each other. */
function mirroredPairs(size: number): Uint32Array {
  const bits = Math.log2(size);
  const pairs: number[] = [];
  for (let index = 0; index < size; index++) {
    let reversed = 0;
    for (let bit = 0; bit < bits; bit++) reversed |= ((index >> bit) & 1) << (bits - 1 - bit);
    if (reversed > index) pairs.push(index, reversed);
  }
  return Uint32Array.from(pairs);
}
