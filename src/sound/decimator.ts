import { sumOf } from './pcm.ts';

const FULL_SCALE = 32_768;

/** @returns the converted samples (full scale is 1), valid until the next call */
export type Decimator = (samples: Int16Array) => Float32Array;

/**
 * Converts a sound to a low rate by averaging neighbouring samples. A crude low pass, but enough to judge speech, and to
 * compare two sounds that passed the same filter.
 */
export function createDecimator(fromHz: number, toHz: number): Decimator {
  const ratio = fromHz / toHz;
  /** State of the next output sample: sum and number of its input samples so far, and how many are missing. */
  const begun = { sum: 0, count: 0, missing: ratio };
  let thin = new Float32Array(0);
  return (samples) => {
    const most = Math.ceil(samples.length / ratio) + 1;
    if (thin.length < most) thin = new Float32Array(most);
    let made = 0;
    let at = 0;
    let { sum, count, missing } = begun;
    // An outer loop and a short inner one: the engine would compile one long loop while it first runs, and discard that code when the loop ends.
    for (;;) {
      const needed = Math.ceil(missing - 0.5);
      const until = Math.min(samples.length, at + needed);
      sum += sumOf(samples, at, until);
      count += until - at;
      missing -= until - at;
      if (until - at < needed) break;
      at = until;
      thin[made++] = sum / count / FULL_SCALE;
      sum = 0;
      count = 0;
      missing += ratio;
    }
    begun.sum = sum;
    begun.count = count;
    begun.missing = missing;
    return thin.subarray(0, made);
  };
}
