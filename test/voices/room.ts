import { createSpectrum, transformLength, valueAt } from '../../src/core/audio/fourier.ts';
import { createDice } from '../sim/dice.ts';
import { RATE_HZ } from './recordings.ts';

/** Sound and what may happen to it in a room. */

export function levelDb(sound: Float32Array): number {
  let sum = 0;
  for (const value of sound) sum += value * value;
  return 10 * Math.log10(Math.max(1e-12, sum / Math.max(1, sound.length)));
}

/** Brings a sound to this level, in place. */
export function atLevel(sound: Float32Array, wantedDb: number, isDb = levelDb(sound)): Float32Array {
  const gain = 10 ** ((wantedDb - isDb) / 20);
  for (let index = 0; index < sound.length; index++) sound[index] = (sound[index] ?? 0) * gain;
  return sound;
}

/** Adds one sound to another, in place, from a sample on. */
export function mixIn(sound: Float32Array, other: Float32Array, from: number, gain = 1): void {
  const until = Math.min(other.length, sound.length - from);
  for (let index = Math.max(0, -from); index < until; index++) {
    sound[from + index] = (sound[from + index] ?? 0) + gain * (other[index] ?? 0);
  }
}

/** Level of a voice while it speaks: of the 20 ms frames that are within 25 dB of its loudest. */
export function speechLevelDb(sound: Float32Array): number {
  const frames = framePowers(sound);
  const loudest = Math.max(...frames);
  const spoken = frames.filter((power) => power > loudest / 316);
  return 10 * Math.log10(Math.max(1e-12, spoken.reduce((sum, power) => sum + power, 0) / spoken.length));
}

const FRAME = Math.round(RATE_HZ * 0.02);

/** Power of each 20 ms frame. */
export function framePowers(sound: Float32Array): number[] {
  const powers: number[] = [];
  for (let from = 0; from + FRAME <= sound.length; from += FRAME) {
    let sum = 0;
    for (let index = from; index < from + FRAME; index++) sum += (sound[index] ?? 0) ** 2;
    powers.push(sum / FRAME);
  }
  return powers;
}

/** The first and last sample of what is said in a recording: within 30 dB of its loudest frame. */
export function spokenSpan(sound: Float32Array): { readonly from: number; readonly until: number } {
  const powers = framePowers(sound);
  const threshold = Math.max(...powers) / 1000;
  const first = powers.findIndex((power) => power > threshold);
  const last = powers.findLastIndex((power) => power > threshold);
  return { from: first * FRAME, until: (last + 1) * FRAME };
}

/** How a room of this reverberation time answers a clap: the direct sound, and a diffuse tail as strong as it 2 m away. */
function impulseResponse(rt60S: number, directToTail: number, seed: number): Float32Array {
  const dice = createDice(seed);
  const response = new Float32Array(Math.round(rt60S * RATE_HZ));
  const decay = Math.log(1000) / (rt60S * RATE_HZ);
  const start = Math.round(0.004 * RATE_HZ);
  let power = 0;
  let smooth = 0;
  for (let index = start; index < response.length; index++) {
    // Walls swallow high tones first.
    smooth += 0.6 * ((dice.next() * 2 - 1) * Math.exp(-decay * index) - smooth);
    response[index] = smooth;
    power += smooth * smooth;
  }
  const gain = Math.sqrt(1 / (directToTail * power));
  for (let index = start; index < response.length; index++) response[index] = (response[index] ?? 0) * gain;
  response[0] = 1;
  return response;
}

/** A sound as it is heard in a room with this reverberation time; its tail sounds on behind it. */
export function reverberate(
  sound: Float32Array,
  rt60S: number,
  { directToTail = 1, seed = 1 } = {},
): Float32Array {
  const response = impulseResponse(rt60S, directToTail, seed);
  const size = transformLength(response.length * 2);
  const hop = size - response.length;
  const spectrum = createSpectrum(size);
  const filterRe = new Float64Array(size);
  const filterIm = new Float64Array(size);
  filterRe.set(response);
  spectrum.forward(filterRe, filterIm);
  const heard = new Float32Array(sound.length + response.length);
  for (let from = 0; from < sound.length; from += hop) {
    const re = new Float64Array(size);
    const im = new Float64Array(size);
    re.set(sound.subarray(from, from + hop));
    spectrum.forward(re, im);
    for (let bin = 0; bin < size; bin++) {
      const real = valueAt(re, bin);
      const imaginary = valueAt(im, bin);
      re[bin] = real * valueAt(filterRe, bin) - imaginary * valueAt(filterIm, bin);
      im[bin] = real * valueAt(filterIm, bin) + imaginary * valueAt(filterRe, bin);
    }
    spectrum.inverse(re, im);
    mixIn(heard, Float32Array.from(re), from);
  }
  return heard;
}
