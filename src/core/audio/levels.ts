import type { ChunkLevels } from '../activity.ts';
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
    let squares = 0;
    for (let at = from; at < until; at++) {
      const sample = samples[at] ?? 0;
      squares += sample * sample;
    }
    const power = squares / (until - from);
    if (power > loudest) loudest = power;
    if (power < quietest) quietest = power;
  }
  if (samples.length === 0) quietest = 0;
  return { loudestDb: levelOfPower(loudest), quietestDb: levelOfPower(quietest) };
}
