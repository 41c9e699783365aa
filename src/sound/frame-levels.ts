import { levelOfPower, samplesOf, sumOfSquares } from './pcm.ts';

const FRAME_MS = 20;

/** Levels of a chunk's 20 ms frames (RMS, dBFS). */
export interface FrameLevels {
  readonly loudestDb: number;
  readonly quietestDb: number;
}

/** Measures the loudest and the quietest frame of a chunk. A last, shorter frame counts too. */
export function measureFrames(pcm: Uint8Array, rateHz: number): FrameLevels {
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

/** Level below which a person hears nothing from the loudspeaker (dBFS). */
const INAUDIBLE_DBFS = -60;

/** Duration of the audible frames of a sound. */
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

/** The audible part of a sound, in milliseconds from the start of the sound; null if the whole sound is inaudible. */
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
