/** Mixes a stereo microphone to one channel, unless its channels cancel each other out. */

/** Sound needed for the first judgement, and averaging time of the powers (ms): about a syllable. */
const MEMORY_MS = 300;
/** The channels cancel out if the power of their mean is below this share of the louder channel's. */
const CANCELLED = 0.01;
/** Above this share, the mean is used again: independent channels reach half, equal ones all of the louder channel's power. */
const MIXED = 0.25;
/** Minimum mean square for a judgement (-60 dBFS): below it is converter noise. */
const AUDIBLE = 1e-6;

export interface StereoMix {
  /** Mixes interleaved stereo samples to mono. */
  mix(interleaved: Float32Array): Float32Array;
  /** The only channel in use, 0 or 1; null: the mean of both. */
  readonly only: 0 | 1 | null;
}

/**
 * A balanced microphone on a stereo input delivers the same sound in opposite phase on both channels: their mean is silence.
 * Then the louder channel is used alone.
 */
export function createStereoMix(rateHz: number): StereoMix {
  const memory = (rateHz * MEMORY_MS) / 1000;
  let [heard, mean, left, right] = [0, 0, 0, 0];
  let only: 0 | 1 | null = null;

  const judge = (): void => {
    const louder = Math.max(left, right);
    if (heard < memory || louder < AUDIBLE) return;
    if (only === null && mean < louder * CANCELLED) only = left >= right ? 0 : 1;
    else if (only !== null && mean > louder * MIXED) only = null;
  };
  return {
    get only() {
      return only;
    },
    mix(interleaved) {
      const mono = new Float32Array(Math.floor(interleaved.length / 2));
      if (mono.length === 0) return mono;
      let [m, l, r] = [0, 0, 0];
      for (let frame = 0; frame < mono.length; frame++) {
        const a = interleaved[frame * 2] ?? 0;
        const b = interleaved[frame * 2 + 1] ?? 0;
        const mixed = (a + b) / 2;
        mono[frame] = mixed;
        l += a * a;
        r += b * b;
        m += mixed * mixed;
      }
      heard += mono.length;
      const weight = Math.min(1, mono.length / memory);
      const blend = (before: number, sum: number): number => before + weight * (sum / mono.length - before);
      [mean, left, right] = [blend(mean, m), blend(left, l), blend(right, r)];
      judge();
      if (only === null) return mono;
      for (let frame = 0; frame < mono.length; frame++) mono[frame] = interleaved[frame * 2 + only] ?? 0;
      return mono;
    },
  };
}
