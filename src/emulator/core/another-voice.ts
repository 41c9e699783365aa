import { resampleBy } from './resample.ts';

/** Window (s) after which each of the two read positions jumps back. */
const WINDOW_S = 0.05;
const FADE_S = 0.012;

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

/** Keeps every `stride`-th sample. */
function thinned(sound: Float32Array, stride: number): Float32Array {
  const thin = new Float32Array(Math.floor(sound.length / stride));
  for (let index = 0; index < thin.length; index++) thin[index] = sound[index * stride] as number;
  return thin;
}

/** The lag (samples) with the highest autocorrelation; 0 if none is high enough. */
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

/** The median pitch of a voice (Hz); null if none is found. */
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

/** Factor that moves pitch and formants. `variant` keeps the voices of several languages apart. */
export function shiftFor(choice: VoiceChoice, pitchHz: number | null, variant: number): number {
  const up = choice === 'high' || (choice === 'contrast' && (pitchHz ?? 0) < PITCH.lowVoiceBelow);
  const apart = 1 + 0.06 * (variant % 4);
  return up ? 1.24 * apart : 0.8 / apart;
}

/**
 * Shifts the pitch of a sound and keeps its rhythm: two read positions, half a window apart, move at `shift` times the speed and are
 * cross-faded. Each is silent when it jumps back. A window of whole periods keeps both in phase.
 * @param tempo speed factor; above 1, the result is shorter
 */
function shifted(sound: Float32Array, shift: number, tempo: number, window: number): Float32Array {
  const output = new Float32Array(Math.round(sound.length / tempo));
  const last = sound.length - 1;
  const valueAt = (place: number): number => {
    const inside = Math.min(Math.max(place, 0), last);
    const whole = Math.floor(inside);
    const before = sound[whole] ?? 0;
    return before + (inside - whole) * ((sound[whole + 1] ?? before) - before);
  };
  for (let index = 0; index < output.length; index++) {
    const turns = (index * (shift - tempo)) / window;
    const phase = turns - Math.floor(turns);
    const other = phase < 0.5 ? phase + 0.5 : phase - 0.5;
    const weight = Math.sin(Math.PI * phase) ** 2;
    const rhythm = index * tempo - window / 2;
    output[index] =
      weight * valueAt(rhythm + phase * window) + (1 - weight) * valueAt(rhythm + other * window);
  }
  return output;
}

/**
 * The same words in the same rhythm and at about the same loudness, in another voice: `shift` moves pitch and
 * formants.
 * @param tempo speed factor; above 1, the result is shorter
 * @returns sound at `toHz`, as long as the input divided by the tempo
 */
export function anotherVoice(
  sound: Float32Array,
  fromHz: number,
  toHz: number,
  shift: number,
  tempo = 1,
  pitchHz = estimatePitch(sound, fromHz),
): Float32Array {
  const rated = resampleBy(sound, fromHz / toHz);
  const period = toHz / (pitchHz ?? PITCH.lowVoiceBelow);
  const window = 2 * period * Math.max(1, Math.round((WINDOW_S * toHz) / (2 * period)));
  const output = shifted(rated, shift, tempo, window);
  level(output, loudness(sound), toHz);
  return output;
}
