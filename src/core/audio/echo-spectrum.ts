/** Discrete Fourier transforms of one length, in place, without any allocation per transform. */
export interface Spectrum {
  readonly size: number;
  /** Time to frequency. */
  forward(re: Float64Array, im: Float64Array): void;
  /** Frequency to time, scaled so that it undoes `forward`. */
  inverse(re: Float64Array, im: Float64Array): void;
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
      const other = mirrored[index] ?? 0;
      if (other <= index) continue;
      swap(re, index, other);
      swap(im, index, other);
    }
    for (let half = 1, stride = size / 2; half < size; half *= 2, stride /= 2) {
      for (let start = 0; start < size; start += half * 2) {
        for (let step = 0, turn = 0; step < half; step++, turn += stride) {
          const low = start + step;
          const high = low + half;
          const cosine = cosines[turn] ?? 0;
          const sine = sines[turn] ?? 0;
          const highRe = re[high] ?? 0;
          const highIm = im[high] ?? 0;
          const real = highRe * cosine - highIm * sine;
          const imaginary = highRe * sine + highIm * cosine;
          const lowRe = re[low] ?? 0;
          const lowIm = im[low] ?? 0;
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
        re[index] = (re[index] ?? 0) / size;
        im[index] = (im[index] ?? 0) / size;
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
  const value = values[one] ?? 0;
  values[one] = values[other] ?? 0;
  values[other] = value;
}
