import { levelOfPower, SILENCE_DBFS, samplesOf } from './pcm.ts';

/**
 * Measures a microphone's level and its faults. The agent, the doctor and `devices --meter` share this meter and its
 * thresholds, so that they agree about a microphone.
 */
export interface SoundSums {
  readonly samples: number;
  readonly squares: number;
  readonly sum: number;
  readonly least: number;
  readonly most: number;
  /** Number of samples at or near full scale: the sound is clipped there. */
  readonly clipped: number;
}

/** The level as figures. Shares are of all samples, 0 to 1. */
export interface SoundLevel {
  readonly rmsDb: number;
  readonly peakDb: number;
  readonly clippedShare: number;
  /** Mean of all samples, as a share of full scale. */
  readonly offset: number;
  /** Every sample has the same value, which no real microphone delivers. */
  readonly isStill: boolean;
}

const FULL_SCALE = 32_768;
/** Magnitude that counts as clipped: converters and resamplers clip a little below full scale. */
const CLIPPED = 32_700;
/** Share of clipped samples: clipping is audible at `from` or above, and over below `until`. */
const CLIPPING = { from: 0.003, until: 0.0005 };
/** DC offset as a share of full scale: a fault at `from` or above, and over below `until`. */
const OFFSET = { from: 1000 / FULL_SCALE, until: 500 / FULL_SCALE };

export const NO_SOUND: SoundSums = {
  samples: 0,
  squares: 0,
  sum: 0,
  clipped: 0,
  least: FULL_SCALE - 1,
  most: -FULL_SCALE,
};

export function sumUp(samples: Int16Array): SoundSums {
  let squares = 0;
  let sum = 0;
  let least = FULL_SCALE - 1;
  let most = -FULL_SCALE;
  let at = 0;
  // Every captured sample passes here: processing four at a time takes half as long.
  for (const last = samples.length - 4; at <= last; at += 4) {
    const a = samples[at] as number;
    const b = samples[at + 1] as number;
    const c = samples[at + 2] as number;
    const d = samples[at + 3] as number;
    squares += a * a + b * b + (c * c + d * d);
    sum += a + b + c + d;
    if (a > most) most = a;
    if (a < least) least = a;
    if (b > most) most = b;
    if (b < least) least = b;
    if (c > most) most = c;
    if (c < least) least = c;
    if (d > most) most = d;
    if (d < least) least = d;
  }
  for (; at < samples.length; at++) {
    const sample = samples[at] as number;
    squares += sample * sample;
    sum += sample;
    if (sample > most) most = sample;
    if (sample < least) least = sample;
  }
  const clipped = Math.max(most, -least) >= CLIPPED ? countClipped(samples) : 0;
  return { samples: samples.length, squares, sum, least, most, clipped };
}

/** In a function of its own, because hardly any sound needs it. */
function countClipped(samples: Int16Array): number {
  let count = 0;
  for (let at = 0; at < samples.length; at++) {
    if (Math.abs(samples[at] as number) >= CLIPPED) count += 1;
  }
  return count;
}

export function addSums(one: SoundSums, other: SoundSums): SoundSums {
  return {
    samples: one.samples + other.samples,
    squares: one.squares + other.squares,
    sum: one.sum + other.sum,
    least: Math.min(one.least, other.least),
    most: Math.max(one.most, other.most),
    clipped: one.clipped + other.clipped,
  };
}

/** The largest magnitude of a sample. */
export function peakOf({ samples, least, most }: SoundSums): number {
  return samples === 0 ? 0 : Math.max(most, -least);
}

export function levelOf(sums: SoundSums): SoundLevel {
  const { samples, squares, sum, least, most, clipped } = sums;
  if (samples === 0) {
    return {
      rmsDb: SILENCE_DBFS,
      peakDb: SILENCE_DBFS,
      clippedShare: 0,
      offset: 0,
      isStill: false,
    };
  }
  return {
    rmsDb: levelOfPower(squares / samples),
    peakDb: levelOfPower(peakOf(sums) ** 2),
    clippedShare: clipped / samples,
    offset: sum / samples / FULL_SCALE,
    isStill: least === most,
  };
}

/** The level of mono PCM. */
export function measureLevel(pcm: Uint8Array): SoundLevel {
  return levelOf(sumUp(samplesOf(pcm)));
}

/** Whether clipping is audible; null between the two thresholds: keep the previous verdict. */
export function clips(clippedShare: number): boolean | null {
  return verdict(clippedShare, CLIPPING);
}

/** Whether the sound has a DC offset; null between the two thresholds: keep the previous verdict. */
export function hasOffset(offset: number): boolean | null {
  return verdict(Math.abs(offset), OFFSET);
}

function verdict(value: number, { from, until }: { from: number; until: number }): boolean | null {
  if (value >= from) return true;
  return value < until ? false : null;
}
