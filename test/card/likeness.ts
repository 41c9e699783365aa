import { createSpectrum, transformLength } from '../../src/sound/fourier.ts';

/** Sample rate of the comparison: low enough to be fast, high enough for speech. */
const COMPARED_HZ = 4000;

/**
 * Similarity of a sound with a part of another one: the maximum of their normalized cross-correlation, 0 to 1. It does not depend
 * on loudness.
 */
export function likeness(heard: Int16Array, heardHz: number, wanted: Int16Array, wantedHz: number): number {
  const [timeline, sound] = [slowed(heard, heardHz), slowed(wanted, wantedHz)];
  const energy = sound.reduce((sum, value) => sum + value * value, 0);
  const places = timeline.length + COMPARED_HZ / 10 - sound.length;
  const product = correlation(timeline, sound, places);
  let best = 0;
  let own = 0;
  for (let at = 0; at < Math.min(sound.length, timeline.length); at++) own += (timeline[at] ?? 0) ** 2;
  for (let from = 0; from <= places; from++) {
    if (own > 0) best = Math.max(best, (product[from] ?? 0) / Math.sqrt(energy * own));
    own += (timeline[from + sound.length] ?? 0) ** 2 - (timeline[from] ?? 0) ** 2;
  }
  return best;
}

/** The cross-correlation for each possible start of the second sound. */
function correlation(timeline: Float64Array, sound: Float64Array, places: number): Float64Array {
  const size = transformLength(Math.max(timeline.length, places) + sound.length + 1);
  const spectrum = createSpectrum(size);
  const [re, im, soundRe, soundIm] = Array.from({ length: 4 }, () => new Float64Array(size)) as [
    Float64Array,
    Float64Array,
    Float64Array,
    Float64Array,
  ];
  re.set(timeline);
  soundRe.set(sound);
  spectrum.forward(re, im);
  spectrum.forward(soundRe, soundIm);
  for (let at = 0; at < size; at++) {
    const [a, b, c, d] = [re[at] ?? 0, im[at] ?? 0, soundRe[at] ?? 0, soundIm[at] ?? 0];
    re[at] = a * c + b * d;
    im[at] = b * c - a * d;
  }
  spectrum.inverse(re, im);
  return re;
}

/** Reduces the sample rate by averaging. */
function slowed(sound: Int16Array, rateHz: number): Float64Array {
  const ratio = rateHz / COMPARED_HZ;
  const slow = new Float64Array(Math.floor(sound.length / ratio));
  for (let at = 0; at < slow.length; at++) {
    const [from, to] = [Math.round(at * ratio), Math.round((at + 1) * ratio)];
    let sum = 0;
    for (let i = from; i < to; i++) sum += sound[i] ?? 0;
    slow[at] = sum / (to - from);
  }
  return slow;
}
