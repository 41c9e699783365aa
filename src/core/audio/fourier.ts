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

/** A value that is there; the compiler can't know that. */
export function valueAt(values: Float64Array | Float32Array | Uint32Array, index: number): number {
  return values[index] ?? 0;
}

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
  const mirrored = mirroredIndexes(size);

  const forward = (re: Float64Array, im: Float64Array): void => {
    for (let index = 0; index < size; index++) {
      const other = valueAt(mirrored, index);
      if (other <= index) continue;
      swap(re, index, other);
      swap(im, index, other);
    }
    for (let half = 1, stride = size / 2; half < size; half *= 2, stride /= 2) {
      for (let start = 0; start < size; start += half * 2) {
        for (let step = 0, turn = 0; step < half; step++, turn += stride) {
          const low = start + step;
          const high = low + half;
          const cosine = valueAt(cosines, turn);
          const sine = valueAt(sines, turn);
          const highRe = valueAt(re, high);
          const highIm = valueAt(im, high);
          const real = highRe * cosine - highIm * sine;
          const imaginary = highRe * sine + highIm * cosine;
          const lowRe = valueAt(re, low);
          const lowIm = valueAt(im, low);
          re[high] = lowRe - real;
          im[high] = lowIm - imaginary;
          re[low] = lowRe + real;
          im[low] = lowIm + imaginary;
        }
      }
    }
  };
  return {
    size,
    forward,
    inverse(re, im) {
      // With real and imaginary parts changed over, the same transform runs the other way.
      forward(im, re);
      for (let index = 0; index < size; index++) {
        re[index] = valueAt(re, index) / size;
        im[index] = valueAt(im, index) / size;
      }
    },
  };
}

/** Each index with its bits in reverse order. */
function mirroredIndexes(size: number): Uint32Array {
  const mirrored = new Uint32Array(size);
  const bits = Math.log2(size);
  for (let index = 0; index < size; index++) {
    let reversed = 0;
    for (let bit = 0; bit < bits; bit++) reversed |= ((index >> bit) & 1) << (bits - 1 - bit);
    mirrored[index] = reversed;
  }
  return mirrored;
}

function swap(values: Float64Array, one: number, other: number): void {
  const value = valueAt(values, one);
  values[one] = valueAt(values, other);
  values[other] = value;
}
