import { samplesOf } from './pcm.ts';

const FULL_SCALE = 32_768;

/**
 * Brings a sound down to a low rate by the mean of the samples that fall together. A crude low pass: enough to compare two
 * sounds that went through the same one.
 */
export function createThinner(fromHz: number, toHz: number): (pcm: Uint8Array) => Float32Array {
  const ratio = fromHz / toHz;
  let sum = 0;
  let count = 0;
  /** Of input samples until the next output is complete. */
  let missing = ratio;
  return (pcm) => {
    const samples = samplesOf(pcm);
    const thin = new Float32Array(Math.ceil(samples.length / ratio) + 1);
    let made = 0;
    for (const sample of samples) {
      sum += sample;
      count += 1;
      missing -= 1;
      if (missing >= 0.5) continue;
      thin[made++] = sum / count / FULL_SCALE;
      sum = 0;
      count = 0;
      missing += ratio;
    }
    return thin.subarray(0, made);
  };
}
