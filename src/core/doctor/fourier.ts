/** The fast Fourier transform, for correlations too long to be done sample by sample. */

export interface Spectrum {
  readonly re: Float64Array;
  readonly im: Float64Array;
}

/** The next power of two, which the transform needs. */
export function transformLength(atLeast: number): number {
  return 2 ** Math.ceil(Math.log2(Math.max(2, atLeast)));
}

/** What the compiler can't know: that the place is within. */
export const valueAt = (values: Float64Array | Float32Array, place: number): number => values[place] ?? 0;

/** Transforms in place. @param inverse without the division by the length */
export function transform({ re, im }: Spectrum, inverse = false): void {
  const length = re.length;
  reorder(re, im);
  for (let size = 2; size <= length; size *= 2) {
    const half = size / 2;
    const turn = ((inverse ? 2 : -2) * Math.PI) / size;
    for (let k = 0; k < half; k++) {
      const cos = Math.cos(turn * k);
      const sin = Math.sin(turn * k);
      for (let low = k; low < length; low += size) {
        const high = low + half;
        const a = valueAt(re, high);
        const b = valueAt(im, high);
        const x = a * cos - b * sin;
        const y = a * sin + b * cos;
        const lowRe = valueAt(re, low);
        const lowIm = valueAt(im, low);
        re[high] = lowRe - x;
        im[high] = lowIm - y;
        re[low] = lowRe + x;
        im[low] = lowIm + y;
      }
    }
  }
}

/** Puts each value at the place whose bits are its own, read backwards. */
function reorder(re: Float64Array, im: Float64Array): void {
  const length = re.length;
  for (let from = 1, to = 0; from < length; from++) {
    let bit = length >> 1;
    for (; (to & bit) !== 0; bit >>= 1) to ^= bit;
    to ^= bit;
    if (from >= to) continue;
    [re[from], re[to]] = [valueAt(re, to), valueAt(re, from)];
    [im[from], im[to]] = [valueAt(im, to), valueAt(im, from)];
  }
}

/**
 * How much of a pattern is in a sound that begins at each of its samples, whatever the phase: the magnitude of the
 * correlation with the pattern and the pattern a quarter turn on. A sound that is the pattern times `a` has `a` there.
 */
export function matchEnvelope(sound: Float32Array, pattern: Float32Array): Float64Array {
  const length = transformLength(sound.length + pattern.length);
  const given = { re: new Float64Array(length), im: new Float64Array(length) };
  given.re.set(sound);
  transform(given);
  const wanted = { re: new Float64Array(length), im: new Float64Array(length) };
  wanted.re.set(pattern);
  transform(wanted);
  const energy = pattern.reduce((sum, value) => sum + value * value, 0);
  // Times the conjugate of the pattern; without the negative frequencies the result turns, and its length is the envelope.
  for (let k = 0; k < length; k++) {
    const isPositive = k > 0 && k < length / 2;
    const scale = isPositive ? 2 / (length * Math.max(energy, 1e-12)) : 0;
    const a = valueAt(given.re, k);
    const b = valueAt(given.im, k);
    const c = valueAt(wanted.re, k);
    const d = -valueAt(wanted.im, k);
    given.re[k] = (a * c - b * d) * scale;
    given.im[k] = (a * d + b * c) * scale;
  }
  transform(given, true);
  const places = Math.max(0, sound.length - pattern.length + 1);
  return Float64Array.from({ length: places }, (_, place) =>
    Math.hypot(valueAt(given.re, place), valueAt(given.im, place)),
  );
}
