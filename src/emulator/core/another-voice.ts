import { resampleBy } from './resample.ts';

const FRAME_S = 0.032;
const SEARCH_S = 0.01;
const FADE_S = 0.012;
/** Step (samples) of the first, coarse search. */
const COARSE = 4;
/** The coarse search compares one of this many steps. */
const SPARSE = 2;

/** A sound and its outline: the mean of each `COARSE` samples, for a cheap search. */
interface Outlined {
  readonly sound: Float32Array;
  readonly outline: Float32Array;
}

function outlined(sound: Float32Array): Outlined {
  const outline = new Float32Array(Math.floor(sound.length / COARSE));
  for (let index = 0, at = 0; index < outline.length; index++, at += COARSE) {
    outline[index] =
      (sound[at] as number) +
      (sound[at + 1] as number) +
      (sound[at + 2] as number) +
      (sound[at + 3] as number);
  }
  return { sound, outline };
}

/** How well the sound at `b` matches the sound at `a`, comparing one value in `stride`; both must lie inside. */
function likeness(values: Float32Array, a: number, b: number, length: number, stride: number): number {
  let product = 0;
  let power = 1e-9;
  for (let index = 0; index < length; index += stride) {
    const other = values[b + index] as number;
    product += (values[a + index] as number) * other;
    power += other * other;
  }
  return product / Math.sqrt(power);
}

/** The place near `ideal` that best matches the natural continuation at `natural`: first on the outline, then exactly. */
function bestPlace(
  { sound, outline }: Outlined,
  natural: number,
  ideal: number,
  reach: number,
  length: number,
): number {
  const last = sound.length - length;
  if (natural > last || last < 0) return Math.max(0, Math.min(ideal, Math.max(0, last)));
  let best = Math.max(0, Math.min(ideal, last));
  let bestScore = Number.NEGATIVE_INFINITY;
  const steps = Math.floor(length / COARSE) - 1;
  const from = Math.ceil(Math.max(0, ideal - reach) / COARSE);
  const to = Math.floor(Math.min(last, ideal + reach) / COARSE);
  const anchor = Math.round(natural / COARSE);
  for (let place = from; place <= to && anchor + steps < outline.length; place++) {
    const score = likeness(outline, anchor, place, steps, SPARSE);
    if (score > bestScore) {
      bestScore = score;
      best = place * COARSE;
    }
  }
  const near = best;
  bestScore = Number.NEGATIVE_INFINITY;
  for (let place = Math.max(0, near - COARSE); place <= Math.min(last, near + COARSE); place++) {
    const score = likeness(sound, natural, place, length, COARSE);
    if (score > bestScore) {
      bestScore = score;
      best = place;
    }
  }
  return best;
}

/** The window (rise and fall) of one frame. */
function windowOf(hop: number): Float32Array {
  return Float32Array.from(
    { length: 2 * hop },
    (_, index) => 0.5 - 0.5 * Math.cos((Math.PI * (index + 0.5)) / hop),
  );
}

/**
 * Makes a sound longer or shorter and keeps its pitch. It overlaps frames, each taken from where it continues the previous
 * one best (waveform similarity overlap-add), so that the result has no clicks.
 */
export function stretch(sound: Float32Array, length: number, rateHz: number): Float32Array {
  const hop = Math.max(8, Math.round((FRAME_S * rateHz) / 2));
  const frame = hop * 2;
  const reach = Math.round(SEARCH_S * rateHz);
  const output = new Float32Array(length);
  const pull = (sound.length - frame) / Math.max(1, length - frame);
  const shape = windowOf(hop);
  const both = outlined(sound);
  let place = 0;
  for (let start = 0; start < length; start += hop) {
    const ideal = Math.round(start * pull);
    place = start === 0 ? 0 : bestPlace(both, place + hop, ideal, reach, hop);
    const end = Math.min(frame, length - start, sound.length - place);
    for (let index = 0; index < end; index++) {
      const weight = start === 0 && index < hop ? 1 : (shape[index] as number);
      output[start + index] = (output[start + index] as number) + weight * (sound[place + index] as number);
    }
  }
  return output;
}

function loudness(sound: Float32Array): number {
  let sum = 0;
  for (const value of sound) sum += value * value;
  return Math.sqrt(sum / Math.max(1, sound.length));
}

/** Sets a sound's loudness and fades its two ends, in place. */
function level(sound: Float32Array, target: number, rateHz: number): void {
  const gain = Math.min(8, target / Math.max(1e-6, loudness(sound)));
  const fade = Math.min(Math.round(FADE_S * rateHz), sound.length >> 1);
  for (let index = 0; index < sound.length; index++) {
    const edge = Math.min(index, sound.length - 1 - index);
    const ramp = edge < fade ? 0.5 - 0.5 * Math.cos((Math.PI * edge) / fade) : 1;
    sound[index] = (sound[index] ?? 0) * gain * ramp;
  }
}

/** Pitch range of voices (Hz), and the upper limit of a low voice. */
const PITCH = { lowest: 70, highest: 400, lowVoiceBelow: 165 };

/** Number of stretches of a voice from which its pitch is estimated. */
const MOST_STRETCHES = 16;

/** One sample in `stride`. */
function thinned(sound: Float32Array, stride: number): Float32Array {
  const thin = new Float32Array(Math.floor(sound.length / stride));
  for (let index = 0; index < thin.length; index++) thin[index] = sound[index * stride] as number;
  return thin;
}

/** The lag at which a stretch of sound repeats itself best; 0 if it does not repeat. */
function periodAt(sound: Float32Array, start: number, size: number, lags: readonly [number, number]): number {
  let power = 0;
  for (let index = 0; index < size; index++) power += (sound[start + index] as number) ** 2;
  let best = 0;
  let bestScore = 0.5;
  for (let lag = lags[0]; lag <= lags[1]; lag++) {
    let product = 0;
    let other = 1e-9;
    for (let index = 0; index < size; index++) {
      const later = sound[start + index + lag] as number;
      product += (sound[start + index] as number) * later;
      other += later * later;
    }
    const score = product / Math.sqrt(other * power);
    if (score > bestScore * 1.05) {
      bestScore = score;
      best = lag;
    }
  }
  return best;
}

/** The usual pitch of a voice (Hz); null if none is found. */
export function estimatePitch(sound: Float32Array, rateHz: number): number | null {
  const stride = Math.max(1, Math.round(rateHz / 8000));
  const rate = rateHz / stride;
  const thin = thinned(sound, stride);
  const size = Math.round(rate * 0.04);
  const longest = Math.ceil(rate / PITCH.lowest);
  const lags = [Math.floor(rate / PITCH.highest), longest] as const;
  const threshold = (loudness(sound) * 0.8) ** 2 * size;
  const starts: number[] = [];
  for (let start = 0; start + size + longest < thin.length; start += size * 2) {
    let power = 0;
    for (let index = 0; index < size; index++) power += (thin[start + index] as number) ** 2;
    if (power >= threshold) starts.push(start);
  }
  const step = Math.max(1, Math.ceil(starts.length / MOST_STRETCHES));
  const pitches = starts
    .filter((_, index) => index % step === 0)
    .map((start) => periodAt(thin, start, size, lags))
    .filter((lag) => lag > 0)
    .map((lag) => rate / lag)
    .sort((a, b) => a - b);
  return pitches[pitches.length >> 1] ?? null;
}

/** Which voice answers: a fixed one, or one that contrasts with the speaker. */
export type VoiceChoice = 'low' | 'high' | 'contrast';

/** The factor by which pitch and formants move. `variant` keeps the voices of several languages apart. */
export function shiftFor(choice: VoiceChoice, pitchHz: number | null, variant: number): number {
  const up = choice === 'high' || (choice === 'contrast' && (pitchHz ?? 0) < PITCH.lowVoiceBelow);
  const apart = 1 + 0.06 * (variant % 4);
  return up ? 1.24 * apart : 0.8 / apart;
}

/**
 * The same words in the same rhythm and at about the same loudness, in another voice: `shift` moves pitch and
 * formants.
 * @param tempo how much faster
 * @returns sound at `toHz`, as long as the input divided by the tempo
 */
export function anotherVoice(
  sound: Float32Array,
  fromHz: number,
  toHz: number,
  shift: number,
  tempo = 1,
): Float32Array {
  const moved = resampleBy(sound, (shift * fromHz) / toHz);
  const output = stretch(moved, Math.round((sound.length * toHz) / fromHz / tempo), toHz);
  level(output, loudness(sound), toHz);
  return output;
}
