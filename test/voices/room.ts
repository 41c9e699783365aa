import { createSpectrum, type Spectrum, transformLength, valueAt } from '../../src/sound/fourier.ts';
import { createDice } from '../sim/dice.ts';
import { RATE_HZ } from './recordings.ts';

/** Levels and reverberation of sound in a room. */

export function levelDb(sound: Float32Array): number {
  let sum = 0;
  for (const value of sound) sum += value * value;
  return 10 * Math.log10(Math.max(1e-12, sum / Math.max(1, sound.length)));
}

/** Scales a sound to this level, in place. */
export function atLevel(sound: Float32Array, wantedDb: number, isDb = levelDb(sound)): Float32Array {
  const gain = 10 ** ((wantedDb - isDb) / 20);
  for (let index = 0; index < sound.length; index++) sound[index] = (sound[index] ?? 0) * gain;
  return sound;
}

/** Adds one sound to another in place, starting at a sample. */
export function mixIn(sound: Float32Array, other: Float32Array, from: number, gain = 1): void {
  const until = Math.min(other.length, sound.length - from);
  for (let index = Math.max(0, -from); index < until; index++) {
    sound[from + index] = (sound[from + index] ?? 0) + gain * (other[index] ?? 0);
  }
}

/** Level of a voice during speech: of all 20 ms frames within 25 dB of the loudest. */
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

/** First and last sample of the speech in a recording: frames within 30 dB of the loudest. */
export function spokenSpan(sound: Float32Array): { readonly from: number; readonly until: number } {
  const powers = framePowers(sound);
  const threshold = Math.max(...powers) / 1000;
  const first = powers.findIndex((power) => power > threshold);
  const last = powers.findLastIndex((power) => power > threshold);
  return { from: first * FRAME, until: (last + 1) * FRAME };
}

/** Impulse response of a room with this reverberation time: direct sound, and a diffuse tail that is as strong at 2 m. */
function impulseResponse(rt60S: number, directToTail: number, seed: number): Float32Array {
  const dice = createDice(seed);
  const response = new Float32Array(Math.round(rt60S * RATE_HZ));
  const decay = Math.log(1000) / (rt60S * RATE_HZ);
  const start = Math.round(0.004 * RATE_HZ);
  let power = 0;
  let smooth = 0;
  for (let index = start; index < response.length; index++) {
    // Walls absorb high tones first.
    smooth += 0.6 * ((dice.next() * 2 - 1) * Math.exp(-decay * index) - smooth);
    response[index] = smooth;
    power += smooth * smooth;
  }
  const gain = Math.sqrt(1 / (directToTail * power));
  for (let index = start; index < response.length; index++) response[index] = (response[index] ?? 0) * gain;
  response[0] = 1;
  return response;
}

/** The transformed impulse response of a room. */
interface Room {
  readonly length: number;
  readonly spectrum: Spectrum;
  readonly re: Float64Array;
  readonly im: Float64Array;
}

const rooms = new Map<string, Room>();
/** Number of rooms of each kind; a detector hears no difference between them. */
const ROOMS_OF_A_KIND = 4;

function roomOf(rt60S: number, directToTail: number, seed: number): Room {
  const key = `${rt60S.toFixed(1)} ${directToTail.toFixed(1)} ${seed % ROOMS_OF_A_KIND}`;
  const known = rooms.get(key);
  if (known !== undefined) return known;
  const response = impulseResponse(Number(rt60S.toFixed(1)), directToTail, 1 + (seed % ROOMS_OF_A_KIND));
  const spectrum = createSpectrum(transformLength(response.length * 2));
  const [re, im] = [new Float64Array(spectrum.size), new Float64Array(spectrum.size)];
  re.set(response);
  spectrum.forward(re, im);
  const room = { length: response.length, spectrum, re, im };
  rooms.set(key, room);
  return room;
}

/** Adds the reverberation of a room to a sound; the tail continues after its end. */
export function reverberate(
  sound: Float32Array,
  rt60S: number,
  { directToTail = 1, seed = 1 } = {},
): Float32Array {
  const room = roomOf(rt60S, directToTail, seed);
  const { size } = room.spectrum;
  const hop = size - room.length;
  const [re, im] = [new Float64Array(size), new Float64Array(size)];
  const heard = new Float32Array(sound.length + room.length);
  // Two blocks at a time, as real and imaginary part, because the response is real.
  for (let from = 0; from < sound.length; from += 2 * hop) {
    re.fill(0).set(sound.subarray(from, from + hop));
    im.fill(0).set(sound.subarray(from + hop, from + 2 * hop));
    room.spectrum.forward(re, im);
    for (let bin = 0; bin < size; bin++) {
      const [real, imaginary] = [valueAt(re, bin), valueAt(im, bin)];
      re[bin] = real * valueAt(room.re, bin) - imaginary * valueAt(room.im, bin);
      im[bin] = real * valueAt(room.im, bin) + imaginary * valueAt(room.re, bin);
    }
    room.spectrum.inverse(re, im);
    addTo(heard, re, from);
    addTo(heard, im, from + hop);
  }
  return heard;
}

function addTo(sound: Float32Array, other: Float64Array, from: number): void {
  const until = Math.min(other.length, sound.length - from);
  for (let index = 0; index < until; index++) {
    sound[from + index] = (sound[from + index] ?? 0) + valueAt(other, index);
  }
}
