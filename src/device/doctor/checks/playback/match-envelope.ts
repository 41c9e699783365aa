import { createSpectrum, transformLength, valueAt } from '../../../../sound/fourier.ts';

/**
 * Strength of a pattern in a sound, for each start sample and in any phase: the magnitude of the correlation with the
 * pattern and with its quarter-turn shift. For a sound that is `a` times the pattern, the value there is `a`.
 */
export function matchEnvelope(sound: Float32Array, pattern: Float32Array): Float64Array {
  const length = transformLength(sound.length + pattern.length);
  const spectrum = createSpectrum(length);
  const soundBins = { re: new Float64Array(length), im: new Float64Array(length) };
  soundBins.re.set(sound);
  spectrum.forward(soundBins.re, soundBins.im);
  const wanted = { re: new Float64Array(length), im: new Float64Array(length) };
  wanted.re.set(pattern);
  spectrum.forward(wanted.re, wanted.im);
  const energy = pattern.reduce((sum, value) => sum + value * value, 0);
  // Multiply by the pattern's conjugate. Without negative frequencies the result is complex, and its magnitude is the envelope.
  for (let k = 0; k < length; k++) {
    const isPositive = k > 0 && k < length / 2;
    const scale = isPositive ? 2 / Math.max(energy, 1e-12) : 0;
    const a = valueAt(soundBins.re, k);
    const b = valueAt(soundBins.im, k);
    const c = valueAt(wanted.re, k);
    const d = -valueAt(wanted.im, k);
    soundBins.re[k] = (a * c - b * d) * scale;
    soundBins.im[k] = (a * d + b * c) * scale;
  }
  spectrum.inverse(soundBins.re, soundBins.im);
  const places = Math.max(0, sound.length - pattern.length + 1);
  return Float64Array.from({ length: places }, (_, place) =>
    Math.hypot(valueAt(soundBins.re, place), valueAt(soundBins.im, place)),
  );
}
