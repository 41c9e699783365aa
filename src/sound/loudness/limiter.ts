import { roundSample } from '../pcm.ts';

/** Keeps sound below full scale: lowers the gain around loud peaks, without a delay. */
export interface Limiter {
  /**
   * Scales and limits the next piece of sound.
   * @param gains amplitude factors, one per millisecond slot; overwritten
   * @returns a new piece of the same length
   */
  apply(samples: Int16Array, gains: Float64Array): Int16Array;
  /** The gain at the end of the last piece; 1 before the first. */
  readonly gain: number;
}

/** -1 dBFS, so that a converter's peaks between the samples stay below full scale too. */
export const CEILING = 29_204;
const SLOT_MS = 1;
/** Steps of the gain per slot: down before a peak, up after it. */
const FALL = 10 ** (3 / 20);
const RISE = 10 ** (0.04 / 20);

export function slotSamples(rateHz: number): number {
  return Math.round((rateHz * SLOT_MS) / 1000);
}

export function createLimiter(rateHz: number): Limiter {
  const slot = slotSamples(rateHz);
  /** The gain at the end of the previous piece, and its ratio to the wanted gain. */
  let edge: number | null = null;
  let reduction = 1;
  return {
    apply(samples, gains) {
      const count = gains.length;
      const wanted = Float64Array.from(gains);
      for (let at = 0; at < count; at++) {
        const peak = peakOf(samples, at * slot, Math.min(samples.length, (at + 1) * slot));
        const gain = gains[at] as number;
        if (peak * gain > CEILING) gains[at] = CEILING / peak;
      }
      for (let at = count - 2; at >= 0; at--)
        gains[at] = Math.min(gains[at] as number, (gains[at + 1] as number) * FALL);
      // Local, because each change of a number captured by a closure allocates an object.
      let reduced = reduction;
      for (let at = 0; at < count; at++) {
        const free = wanted[at] as number;
        reduced = Math.min((gains[at] as number) / free, reduced * RISE, 1);
        gains[at] = free * reduced;
      }
      reduction = reduced;
      return scale(samples, gains);
    },
    get gain() {
      return edge ?? 1;
    },
  };

  /** Between two slots the lower gain counts, so that no sample exceeds the limit of its slot. */
  function scale(samples: Int16Array, gains: Float64Array): Int16Array {
    const scaled = new Int16Array(samples.length);
    let from = Math.min(edge ?? gains[0] ?? 1, gains[0] ?? 1);
    for (let at = 0; at < gains.length; at++) {
      const gain = gains[at] as number;
      const to = Math.min(gain, gains[at + 1] ?? gain);
      const first = at * slot;
      const last = Math.min(samples.length, first + slot);
      const step = (to - from) / Math.max(1, last - first);
      for (let place = first; place < last; place++)
        scaled[place] = roundSample((samples[place] as number) * (from + step * (place - first)));
      from = to;
    }
    edge = from;
    return scaled;
  }
}

/** Two comparisons with the sample: one with its magnitude would take three times as long, because its sign cannot be predicted. */
function peakOf(samples: Int16Array, from: number, until: number): number {
  let least = 0;
  let most = 0;
  for (let at = from; at < until; at++) {
    const sample = samples[at] as number;
    if (sample > most) most = sample;
    if (sample < least) least = sample;
  }
  return Math.max(most, -least);
}
