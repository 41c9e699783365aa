import { downmix, samplesOf, toFloat, toPcm } from '../../sound/pcm.ts';

/** The bytes of samples, without a copy. */
export function bytesOf(samples: Int16Array): Uint8Array {
  return new Uint8Array(samples.buffer, samples.byteOffset, samples.byteLength);
}

/** The samples of a client's sound, mixed to one channel. */
export function monoOf(pcm: Uint8Array, channels: number): Int16Array {
  return samplesOf(channels === 1 ? pcm : toPcm(downmix(toFloat(pcm), channels)));
}

/** The same sound on several interleaved channels. */
export function upmix(mono: Int16Array, channels: number): Int16Array {
  if (channels === 1) return mono;
  const samples = new Int16Array(mono.length * channels);
  for (let index = 0; index < samples.length; index++)
    samples[index] = mono[Math.floor(index / channels)] ?? 0;
  return samples;
}

/** One sample in this many is used for a level: enough for a meter, and cheap in a simulation. */
const LEVEL_STRIDE = 16;

/** Mean power (dB of full scale); -100 for silence. */
export function levelDb(samples: Int16Array): number {
  if (samples.length === 0) return -100;
  let sum = 0;
  let seen = 0;
  for (let index = 0; index < samples.length; index += LEVEL_STRIDE) {
    const sample = samples[index] ?? 0;
    sum += sample * sample;
    seen++;
  }
  const mean = sum / seen / 32_768 ** 2;
  return mean < 1e-10 ? -100 : 10 * Math.log10(mean);
}
