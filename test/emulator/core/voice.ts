import { seededRandom } from '../../../src/core/random.ts';

const known = new Map<string, Int16Array>();

/** Makes each sound once; each caller gets its own copy. */
function once(name: string, parameters: readonly number[], make: () => Int16Array): Int16Array {
  const key = `${name} ${parameters.join(' ')}`;
  const sound = known.get(key) ?? make();
  known.set(key, sound);
  return sound.slice();
}

/** A voiced sound: a sawtooth of this pitch through its first harmonics, as loud as speech. */
export function vowel(seconds: number, rateHz: number, pitchHz: number, gain = 6000): Int16Array {
  const samples = new Int16Array(Math.round(seconds * rateHz));
  for (let index = 0; index < samples.length; index++) {
    let sum = 0;
    for (let harmonic = 1; harmonic <= 8; harmonic++) {
      sum += Math.sin((2 * Math.PI * pitchHz * harmonic * index) / rateHz) / harmonic;
    }
    samples[index] = Math.round(gain * sum);
  }
  return samples;
}

/** The noise of a room, `peak` either side of zero. */
export function noise(seconds: number, rateHz: number, peak: number, seed = 1): Int16Array {
  return once('noise', [seconds, rateHz, peak, seed], () => {
    const random = seededRandom(seed);
    const samples = new Int16Array(Math.round(seconds * rateHz));
    for (let at = 0; at < samples.length; at++) samples[at] = Math.round((random() - 0.5) * 2 * peak);
    return samples;
  });
}

/** Syllables of a voice in a room: 160 ms of vowel, 40 ms without, on top of noise. */
export function speech(seconds: number, rateHz: number, pitchHz = 140, roomPeak = 60): Int16Array {
  return once('speech', [seconds, rateHz, pitchHz, roomPeak], () => {
    const voice = vowel(seconds, rateHz, pitchHz);
    const room = noise(seconds, rateHz, roomPeak, 7);
    return voice.map((sample, index) => {
      const within = ((index / rateHz) % 0.2) / 0.2;
      const shape = within < 0.8 ? Math.sin((Math.PI * within) / 0.8) : 0;
      return Math.round(sample * shape) + (room[index] ?? 0);
    });
  });
}

export function concat(...parts: readonly Int16Array[]): Int16Array {
  const whole = new Int16Array(parts.reduce((sum, part) => sum + part.length, 0));
  let at = 0;
  for (const part of parts) {
    whole.set(part, at);
    at += part.length;
  }
  return whole;
}

/** The samples as bytes, copied. */
export function pcm(samples: Int16Array): Uint8Array {
  return new Uint8Array(samples.slice().buffer);
}

/** Cuts a sound into chunks as a client sends them. */
export function chunks(samples: Int16Array, rateHz: number, chunkMs = 320): Uint8Array[] {
  const size = (rateHz * chunkMs) / 1000;
  const parts: Uint8Array[] = [];
  for (let at = 0; at < samples.length; at += size) parts.push(pcm(samples.subarray(at, at + size)));
  return parts;
}
