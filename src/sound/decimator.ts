import { samplesOf } from './pcm.ts';

const FULL_SCALE = 32_768;

/**
 * Converts a sound to a low rate by averaging neighbouring samples. A crude low pass, but enough to compare two sounds
 * that passed the same filter.
 */
export function createDecimator(fromHz: number, toHz: number): (pcm: Uint8Array) => Float32Array {
  const ratio = fromHz / toHz;
  /** State of the next output sample: sum and number of its input samples so far, and how many are missing. */
  const begun = { sum: 0, count: 0, missing: ratio };
  return (pcm) => {
    const samples = samplesOf(pcm);
    const thin = new Float32Array(Math.ceil(samples.length / ratio) + 1);
    let made = 0;
    // Local variables for speed: every sample that is played or heard passes here.
    let { sum, count, missing } = begun;
    for (let at = 0; at < samples.length; at++) {
      sum += samples[at] as number;
      count += 1;
      missing -= 1;
      if (missing >= 0.5) continue;
      thin[made++] = sum / count / FULL_SCALE;
      sum = 0;
      count = 0;
      missing += ratio;
    }
    Object.assign(begun, { sum, count, missing });
    return thin.subarray(0, made);
  };
}
