import { FRAME_SAMPLES } from './band.ts';

/** Samples per frame at half the band's rate: enough for the pitch of a voice, and a quarter of the work. */
const HOP = FRAME_SAMPLES / 2;
/** Samples searched for a period: two frames, so that the lowest voice has two periods in them. */
const WINDOW = 2 * HOP;
/** Periods of voices in samples, from a child's to a bass's: 570 to 60 Hz. */
const SHORTEST = 7;
const LONGEST = 66;
/** The shortest period that fits this well relative to the best one wins: twice the true period fits too. */
const NEARLY = 0.88;

/** How well a frame repeats itself (0 to 1), and its period in samples at 4 kHz; 0: no period. */
export interface Pitch {
  readonly clarity: number;
  readonly period: number;
}

const NONE: Pitch = { clarity: 0, period: 0 };

export interface PitchFinder {
  /** Call it for every frame, even if `isLookedAt` is false. */
  hear(frame: Float32Array, isLookedAt: boolean): Pitch;
}

export function createPitchFinder(): PitchFinder {
  const recent = new Float32Array(WINDOW + LONGEST);
  const products = new Float64Array(LONGEST + 1);
  const fits = new Float32Array(LONGEST + 2);

  const find = (): Pitch => {
    const from = recent.length - WINDOW;
    let power = 1e-9;
    for (let index = from; index < recent.length; index++) power += (recent[index] as number) ** 2;
    // The power is updated from lag to lag: one sample enters, one leaves.
    let other = 1e-9;
    for (let index = from - SHORTEST + 1; index < recent.length - SHORTEST + 1; index++) {
      other += (recent[index] as number) ** 2;
    }
    multiply(recent, from, products);
    let best = 0;
    for (let lag = SHORTEST; lag <= LONGEST; lag++) {
      other += (recent[from - lag] as number) ** 2 - (recent[recent.length - lag] as number) ** 2;
      const fit = (products[lag] as number) / Math.sqrt(power * Math.max(1e-9, other));
      fits[lag] = fit;
      if (fit > best) best = fit;
    }
    for (let lag = SHORTEST + 1; lag < LONGEST; lag++) {
      const fit = fits[lag] as number;
      if (fit <= NEARLY * best) continue;
      const before = fits[lag - 1] as number;
      const after = fits[lag + 1] as number;
      if (fit < before || fit < after) continue;
      const bend = before - 2 * fit + after;
      return { clarity: best, period: lag + (bend === 0 ? 0 : (before - after) / (2 * bend)) };
    }
    // A best fit at the end of the range (hum) means that the true period is longer.
    return NONE;
  };

  return {
    hear(frame, isLookedAt) {
      recent.copyWithin(0, HOP);
      const end = recent.length - HOP;
      for (let index = 0; index < HOP; index++) {
        recent[end + index] = ((frame[2 * index] as number) + (frame[2 * index + 1] as number)) / 2;
      }
      return isLookedAt ? find() : NONE;
    },
  };
}

/** Multiplies the samples from this place on with those of each lag before them. Four lags at a time, because each sample is then read once for all four. */
function multiply(samples: Float32Array, from: number, products: Float64Array): void {
  for (let lag = SHORTEST; lag <= LONGEST; lag += 4) {
    let first = 0;
    let second = 0;
    let third = 0;
    let fourth = 0;
    for (let index = from; index < samples.length; index++) {
      const sample = samples[index] as number;
      const before = index - lag;
      first += sample * (samples[before] as number);
      second += sample * (samples[before - 1] as number);
      third += sample * (samples[before - 2] as number);
      fourth += sample * (samples[before - 3] as number);
    }
    products[lag] = first;
    products[lag + 1] = second;
    products[lag + 2] = third;
    products[lag + 3] = fourth;
  }
}
