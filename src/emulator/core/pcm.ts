/** The bytes of samples, without a copy. */
export function bytesOf(samples: Int16Array): Uint8Array {
  return new Uint8Array(samples.buffer, samples.byteOffset, samples.byteLength);
}

/** One channel from interleaved ones: their mean. */
export function downmix(samples: Int16Array, channels: number): Int16Array {
  if (channels === 1) return samples;
  const mono = new Int16Array(Math.floor(samples.length / channels));
  for (let frame = 0; frame < mono.length; frame++) {
    let sum = 0;
    for (let channel = 0; channel < channels; channel++) sum += samples[frame * channels + channel] ?? 0;
    mono[frame] = Math.round(sum / channels);
  }
  return mono;
}

/** The same sound on several interleaved channels. */
export function upmix(mono: Int16Array, channels: number): Int16Array {
  if (channels === 1) return mono;
  const samples = new Int16Array(mono.length * channels);
  for (let index = 0; index < samples.length; index++)
    samples[index] = mono[Math.floor(index / channels)] ?? 0;
  return samples;
}

/** Every this many samples are looked at for a level: enough for a meter, cheap enough for a simulation. */
const LEVEL_STRIDE = 16;

/** Mean power as decibels of full scale; -100 for silence. */
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
