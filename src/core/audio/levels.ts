import type { ChunkLevels } from '../speech/noise-floor.ts';
import { levelOfPower, samplesOf } from './pcm.ts';

const FRAME_MS = 20;

/** Levels of the 20 ms frames in a chunk: its loudest and its quietest, RMS in dBFS. A last, shorter frame counts too. */
export function measureFrames(pcm: Uint8Array, rateHz: number): ChunkLevels {
  const samples = samplesOf(pcm);
  const frame = Math.max(1, Math.round((rateHz * FRAME_MS) / 1000));
  let loudest = 0;
  let quietest = Number.POSITIVE_INFINITY;
  for (let from = 0; from < samples.length; from += frame) {
    const until = Math.min(samples.length, from + frame);
    const power = sumOfSquares(samples, from, until) / (until - from);
    if (power > loudest) loudest = power;
    if (power < quietest) quietest = power;
  }
  if (samples.length === 0) quietest = 0;
  return { loudestDb: levelOfPower(loudest), quietestDb: levelOfPower(quietest) };
}

/** Exact, and so the same in whatever order: even a frame of a second has fewer than 53 bits. */
function sumOfSquares(samples: Int16Array, from: number, until: number): number {
  let squares = 0;
  let at = from;
  // Each captured sample passes here: four at a time take half as long.
  for (; at + 4 <= until; at += 4) {
    const a = samples[at] ?? 0;
    const b = samples[at + 1] ?? 0;
    const c = samples[at + 2] ?? 0;
    const d = samples[at + 3] ?? 0;
    squares += a * a + b * b + (c * c + d * d);
  }
  for (; at < until; at++) {
    const sample = samples[at] ?? 0;
    squares += sample * sample;
  }
  return squares;
}

/** Softer than this nothing of the loudspeaker comes back that anybody could hear, dBFS. */
const INAUDIBLE_DBFS = -60;

/** How much of a sound is loud enough to be heard at all. */
export function audibleMs(pcm: Uint8Array, rateHz: number): number {
  const samples = samplesOf(pcm);
  const frame = Math.max(1, Math.round((rateHz * FRAME_MS) / 1000));
  let heard = 0;
  for (let from = 0; from < samples.length; from += frame) {
    const until = Math.min(samples.length, from + frame);
    if (levelOfPower(sumOfSquares(samples, from, until) / (until - from)) > INAUDIBLE_DBFS)
      heard += until - from;
  }
  return (heard * 1000) / rateHz;
}

/** What of a sound is loud enough to be heard at all, milliseconds from its begin; null: nothing. */
export function audiblePart(pcm: Uint8Array, rateHz: number): { fromMs: number; untilMs: number } | null {
  const samples = samplesOf(pcm);
  const frame = Math.max(1, Math.round((rateHz * FRAME_MS) / 1000));
  let first: number | null = null;
  let last = 0;
  for (let from = 0; from < samples.length; from += frame) {
    const until = Math.min(samples.length, from + frame);
    if (levelOfPower(sumOfSquares(samples, from, until) / (until - from)) <= INAUDIBLE_DBFS) continue;
    first ??= from;
    last = until;
  }
  return first === null ? null : { fromMs: (first * 1000) / rateHz, untilMs: (last * 1000) / rateHz };
}
