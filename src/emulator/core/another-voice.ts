import { resampleBy } from './resample.ts';

const FRAME_S = 0.032;
const SEARCH_S = 0.01;
const FADE_S = 0.012;
const COARSE = 4;

/** How well `b` at one place continues `a` at another, over a frame, looking at every fourth sample. */
function likeness(sound: Float32Array, a: number, b: number, length: number): number {
  let product = 0;
  let power = 1e-9;
  for (let index = 0; index < length; index += COARSE) {
    const other = sound[b + index] ?? 0;
    product += (sound[a + index] ?? 0) * other;
    power += other * other;
  }
  return product / Math.sqrt(power);
}

/** The place near `ideal` that best continues what would follow naturally at `natural`. */
function bestPlace(
  sound: Float32Array,
  natural: number,
  ideal: number,
  reach: number,
  length: number,
): number {
  let best = Math.max(0, ideal);
  let bestScore = Number.NEGATIVE_INFINITY;
  const consider = (from: number, to: number, stride: number): void => {
    for (let place = Math.max(0, from); place <= to; place += stride) {
      const score = likeness(sound, natural, place, length);
      if (score > bestScore) {
        bestScore = score;
        best = place;
      }
    }
  };
  consider(ideal - reach, ideal + reach, COARSE);
  consider(best - COARSE + 1, best + COARSE - 1, 1);
  return best;
}

/**
 * Makes a sound longer or shorter and leaves its pitch: overlapping frames, each taken from where it
 * continues the one before best (waveform similarity overlap-add), so that nothing clicks.
 */
export function stretch(sound: Float32Array, length: number, rateHz: number): Float32Array {
  const hop = Math.max(8, Math.round((FRAME_S * rateHz) / 2));
  const frame = hop * 2;
  const reach = Math.round(SEARCH_S * rateHz);
  const output = new Float32Array(length);
  const pull = (sound.length - frame) / Math.max(1, length - frame);
  let place = 0;
  for (let start = 0; start < length; start += hop) {
    const ideal = Math.round(start * pull);
    place = start === 0 ? 0 : bestPlace(sound, place + hop, ideal, reach, hop);
    for (let index = 0; index < frame && start + index < length; index++) {
      const rise = start === 0 && index < hop;
      const window = rise ? 1 : 0.5 - 0.5 * Math.cos((Math.PI * (index + 0.5)) / hop);
      output[start + index] = (output[start + index] ?? 0) + window * (sound[place + index] ?? 0);
    }
  }
  return output;
}

function loudness(sound: Float32Array): number {
  let sum = 0;
  for (const value of sound) sum += value * value;
  return Math.sqrt(sum / Math.max(1, sound.length));
}

/** Brings a sound to a loudness and fades its two ends, in place. */
function finish(sound: Float32Array, target: number, rateHz: number): void {
  const gain = Math.min(8, target / Math.max(1e-6, loudness(sound)));
  const fade = Math.min(Math.round(FADE_S * rateHz), sound.length >> 1);
  for (let index = 0; index < sound.length; index++) {
    const edge = Math.min(index, sound.length - 1 - index);
    const ramp = edge < fade ? 0.5 - 0.5 * Math.cos((Math.PI * edge) / fade) : 1;
    sound[index] = (sound[index] ?? 0) * gain * ramp;
  }
}

/** Pitches of voices, hertz, and where a low voice ends. */
const PITCH = { lowest: 70, highest: 400, lowVoiceBelow: 165 };

/** The usual pitch of a voice in hertz, or null where there is none to be found. */
export function estimatePitch(sound: Float32Array, rateHz: number): number | null {
  const stride = Math.max(1, Math.round(rateHz / 8000));
  const rate = rateHz / stride;
  const size = Math.round(rate * 0.04);
  const shortest = Math.floor(rate / PITCH.highest);
  const longest = Math.ceil(rate / PITCH.lowest);
  const threshold = (loudness(sound) * 0.8) ** 2 * size;
  const found: number[] = [];
  const value = (at: number): number => sound[at * stride] ?? 0;
  for (let start = 0; (start + size + longest) * stride < sound.length; start += size * 2) {
    let power = 0;
    for (let index = 0; index < size; index++) power += value(start + index) ** 2;
    if (power < threshold) continue;
    let best = 0;
    let bestScore = 0.5;
    for (let lag = shortest; lag <= longest; lag++) {
      let product = 0;
      let other = 1e-9;
      for (let index = 0; index < size; index++) {
        const later = value(start + index + lag);
        product += value(start + index) * later;
        other += later * later;
      }
      const score = product / Math.sqrt(other * power);
      if (score > bestScore * 1.05) {
        bestScore = score;
        best = lag;
      }
    }
    if (best > 0) found.push(rate / best);
  }
  found.sort((a, b) => a - b);
  return found[found.length >> 1] ?? null;
}

/** Which voice answers: a fixed one, or one that stands out from the speaker. */
export type VoiceChoice = 'low' | 'high' | 'contrast';

/** The factor by which pitch and formants move. `variant` keeps the voices of several languages apart. */
export function shiftFor(choice: VoiceChoice, pitchHz: number | null, variant: number): number {
  const up = choice === 'high' || (choice === 'contrast' && (pitchHz ?? 0) < PITCH.lowVoiceBelow);
  const apart = 1 + 0.06 * (variant % 4);
  return up ? 1.24 * apart : 0.8 / apart;
}

/**
 * The same words in the same rhythm and about the same loudness, in another voice: pitch and formants move
 * by `shift`.
 * @returns sound at `toHz`, as long in time as the input
 */
export function anotherVoice(sound: Float32Array, fromHz: number, toHz: number, shift: number): Float32Array {
  const moved = resampleBy(sound, (shift * fromHz) / toHz);
  const output = stretch(moved, Math.round((sound.length * toHz) / fromHz), toHz);
  finish(output, loudness(sound), toHz);
  return output;
}
