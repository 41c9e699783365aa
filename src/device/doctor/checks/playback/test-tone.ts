import { valueAt } from '../../../../sound/fourier.ts';
import { matchEnvelope } from './match-envelope.ts';

/**
 * The doctor's test tone: three short sweeps at uneven intervals, in the range of small loudspeakers. Hum, beats and
 * voices do not match it, and sound cards with different clocks do not blur it.
 */
const SWEEP = { fromHz: 500, toHz: 4000, ms: 250, fadeMs: 20 } as const;
const LAST_START_MS = 990;
const STARTS_MS = [0, 430, LAST_START_MS] as const;
/** Amplitude (-15 dBFS at the peak): clearly heard across a room, far from distortion. */
const AMPLITUDE = 0.18;

export const TONE_MS = LAST_START_MS + SWEEP.ms;
/** Longest delay at which the tone is searched for (ms). */
export const LONGEST_ECHO_MS = 1000;
/** Reverberation after the tone (ms) that counts as part of the echo. */
const ROOM_MS = 200;

function makeSweep(rateHz: number): Float32Array {
  const { fromHz, toHz, ms, fadeMs } = SWEEP;
  const samples = Math.round((ms * rateHz) / 1000);
  const fade = Math.max(1, Math.round((fadeMs * rateHz) / 1000));
  return Float32Array.from({ length: samples }, (_, at) => {
    const t = at / rateHz;
    const phase = 2 * Math.PI * (fromHz * t + ((toHz - fromHz) * t * t * 1000) / (2 * ms));
    const edge = Math.min(1, (at + 0.5) / fade, (samples - at - 0.5) / fade);
    return Math.sin(phase) * Math.sin((edge * Math.PI) / 2) ** 2;
  });
}

const placeOf = (ms: number, rateHz: number): number => Math.round((ms * rateHz) / 1000);

/** The tone as samples from -1 to 1. @param gain from the lane's volume */
export function makeTone(rateHz: number, gain = 1): Float32Array {
  const tone = new Float32Array(placeOf(TONE_MS, rateHz));
  const sweep = makeSweep(rateHz);
  for (const startMs of STARTS_MS) {
    const from = placeOf(startMs, rateHz);
    for (let at = 0; at < sweep.length && from + at < tone.length; at++)
      tone[from + at] = (sweep[at] ?? 0) * AMPLITUDE * gain;
  }
  return tone;
}

/** The tone as the microphone heard it. */
export interface HeardTone {
  /** Start of the tone in the recording, milliseconds. */
  readonly atMs: number;
  /** Level against the played tone (dB), including reverberation if the noise is low enough. */
  readonly gainDb: number;
  /** How far the tone stands out from the noise, decibels. */
  readonly snrDb: number;
}

/** Lowest signal-to-noise ratio (dB); noise alone reaches it once in some ten thousand trials. */
const LOWEST_SNR_DB = 9;
/** Largest ratio between the levels of the three sweeps: they come back equally loud, unlike a noise that starts or ends. */
const MOST_UNLIKE = 4;
/** Stretch before the tone (ms) in which the noise of the room is measured. */
const BEFORE_MS = { from: 100, until: 5 } as const;
/** Shift between the sweeps (ms) from different card clocks and the delay of a resampler. */
const SLACK_MS = 1;

/**
 * Searches for the tone in a recording. @returns null if it is not there
 * @param gain at which it was played
 */
export function findTone(recording: Float32Array, rateHz: number, gain = 1): HeardTone | null {
  const sweep = makeSweep(rateHz);
  const envelope = widest(matchEnvelope(recording, sweep), placeOf(SLACK_MS, rateHz));
  const starts = STARTS_MS.map((ms) => placeOf(ms, rateHz));
  const places = envelope.length - placeOf(LAST_START_MS, rateHz);
  if (places <= 0 || gain <= 0) return null;
  // The weakest of the three counts: a slammed door can resemble one loud sweep, but never three.
  const scores = Float64Array.from({ length: places }, (_, at) => {
    const sweeps = starts.map((start) => valueAt(envelope, at + start));
    const weakest = Math.min(...sweeps);
    return Math.max(...sweeps) > weakest * MOST_UNLIKE ? 0 : weakest;
  });
  let best = 0;
  for (let at = 1; at < places; at++) if (valueAt(scores, at) > valueAt(scores, best)) best = at;
  const peak = valueAt(scores, best);
  if (peak <= 0) return null;
  const before = scores.slice(
    Math.max(0, best - placeOf(BEFORE_MS.from, rateHz)),
    Math.max(0, best - placeOf(BEFORE_MS.until, rateHz)),
  );
  const floor = Math.max(typicalAway(envelope, best, rateHz), nearlyAll(before));
  const snrDb = decibels(peak / Math.max(floor, 1e-9));
  if (snrDb < LOWEST_SNR_DB) return null;
  const direct = decibels(peak / (AMPLITUDE * gain));
  const whole = roomGain(recording, best, rateHz, gain);
  return {
    atMs: (best * 1000) / rateHz,
    gainDb: round(Math.max(direct, whole ?? direct)),
    snrDb: round(snrDb),
  };
}

/** The largest value within `reach` samples to either side. */
function widest(values: Float64Array, reach: number): Float64Array {
  return values.map((_, at) => {
    let most = 0;
    for (let near = Math.max(0, at - reach); near <= at + reach && near < values.length; near++)
      most = Math.max(most, valueAt(values, near));
    return most;
  });
}

/** Noise level away from the tone. */
function typicalAway(envelope: Float64Array, from: number, rateHz: number): number {
  const until = from + placeOf(TONE_MS + ROOM_MS, rateHz);
  return nearlyAll(envelope.filter((_, at) => at < from - placeOf(SWEEP.ms, rateHz) || at > until));
}

/** The level below which nine of ten values lie. */
function nearlyAll(values: Float64Array): number {
  return valueAt(values.toSorted(), Math.floor(values.length * 0.9));
}

/** Gain by energy, which includes reverberation; null if the noise is louder. */
function roomGain(recording: Float32Array, from: number, rateHz: number, gain: number): number | null {
  const until = Math.min(recording.length, from + placeOf(TONE_MS + ROOM_MS, rateHz));
  const noise = meanSquare(recording, 0, Math.max(0, from - placeOf(20, rateHz)));
  if (noise === null) return null;
  const total = (meanSquare(recording, from, until) ?? 0) * (until - from);
  const echo = total - noise * (until - from);
  if (echo < total / 2) return null;
  const played = makeTone(rateHz, gain).reduce((sum, value) => sum + value * value, 0);
  return decibels(Math.sqrt(echo / Math.max(played, 1e-12)));
}

function meanSquare(sound: Float32Array, from: number, until: number): number | null {
  if (until <= from) return null;
  let sum = 0;
  for (let at = from; at < until; at++) sum += (sound[at] ?? 0) ** 2;
  return sum / (until - from);
}

const decibels = (ratio: number): number => 20 * Math.log10(Math.max(ratio, 1e-9));
const round = (value: number): number => Math.round(value * 10) / 10;
