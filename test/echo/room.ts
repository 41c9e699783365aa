/** A loudspeaker and a microphone in a room, processed in blocks because long cells do not fit in memory. */
import { transformLength, valueAt } from '../../src/sound/fourier.ts';
import { createRealSpectrum } from '../../src/sound/real-spectrum.ts';
import { chance } from '../acoustics.ts';
import { RATE_HZ } from '../voices/recordings.ts';

/** Delay of the first reflection, and the level of the reflections relative to the direct sound. */
const FIRST_REFLECTION_MS = 4;
const REFLECTIONS = 0.12;
/** Computed share of the reverberation time: 48 dB of decay. */
const TAIL = 0.8;

/** Impulse response of the room without the delay of the path, normalized to this gain. */
export function impulseResponse(rt60S: number, gainDb: number, seed: number): Float32Array {
  const next = chance(seed);
  const response = new Float32Array(Math.round(rt60S * RATE_HZ * TAIL));
  response[0] = 1;
  const decay = Math.log(1000) / (rt60S * RATE_HZ);
  for (let at = Math.round((FIRST_REFLECTION_MS * RATE_HZ) / 1000); at < response.length; at++)
    response[at] = (next() * 2 - 1) * REFLECTIONS * Math.exp(-decay * at);
  const power = response.reduce((sum, value) => sum + value * value, 0);
  return response.map((value) => (value * 10 ** (gainDb / 20)) / Math.sqrt(power));
}

/** Convolves an endless sound with a response, block by block. */
export interface Convolver {
  /** @returns sound of the same length; the next call overwrites it */
  step(block: Float32Array): Float32Array;
}

export function createConvolver(response: Float32Array, blockSamples: number): Convolver {
  const size = transformLength(2 * blockSamples);
  const spectrum = createRealSpectrum(size);
  const { bins } = spectrum;
  const parts = Math.ceil(response.length / blockSamples);
  const make = () => ({ re: new Float64Array(bins), im: new Float64Array(bins) });
  const time = new Float64Array(size);
  const answers = Array.from({ length: parts }, (_, part) => {
    const one = make();
    time.fill(0);
    time.set(response.subarray(part * blockSamples, (part + 1) * blockSamples));
    spectrum.forward(time, one.re, one.im);
    return one;
  });
  const past = Array.from({ length: parts }, make);
  const recent = new Float64Array(size);
  const sum = make();
  const out = new Float32Array(blockSamples);
  let newest = 0;
  return {
    step(block) {
      recent.copyWithin(0, blockSamples);
      recent.set(block, size - blockSamples);
      newest = (newest + parts - 1) % parts;
      const into = past[newest];
      if (into !== undefined) spectrum.forward(recent, into.re, into.im);
      sum.re.fill(0);
      sum.im.fill(0);
      for (const [part, answer] of answers.entries()) {
        const sound = past[(newest + part) % parts];
        if (sound === undefined) continue;
        for (let bin = 0; bin < bins; bin++) {
          const [a, b] = [valueAt(sound.re, bin), valueAt(sound.im, bin)];
          const [c, d] = [valueAt(answer.re, bin), valueAt(answer.im, bin)];
          sum.re[bin] = valueAt(sum.re, bin) + a * c - b * d;
          sum.im[bin] = valueAt(sum.im, bin) + a * d + b * c;
        }
      }
      spectrum.inverse(sum.re, sum.im, time);
      out.set(time.subarray(size - blockSamples));
      return out;
    },
  };
}

/**
 * An overdriven loudspeaker. For a tone of this amplitude, `overtones` is the share of odd overtones (more for louder tones), and
 * `lopsided` that of even ones.
 */
export function createDistortion(
  { overtones, lopsided = 0 }: { overtones: number; lopsided?: number },
  amplitude: number,
): (sample: number) => number {
  const bend = createBend(overtones, amplitude);
  // The square of a sine has half of its amplitude at twice its frequency; the other half is DC.
  const leans = (2 * lopsided) / amplitude;
  return (sample) => bend(sample) + leans * sample * sample;
}

function createBend(share: number, amplitude: number): (sample: number) => number {
  if (share === 0) return (sample) => sample;
  // The third power of a sine has a quarter of its amplitude at three times its frequency.
  const bend = (4 * share) / (1 + 3 * share) / amplitude ** 2;
  const most = Math.sqrt(1 / (3 * bend));
  return (sample) => {
    const within = Math.max(-most, Math.min(most, sample));
    return within - bend * within ** 3;
  };
}

/** The last seconds of a sound, read by sample number, with interpolation. */
export interface Ring {
  readonly end: number;
  write(block: Float32Array): void;
  at(place: number): number;
}

/** Width of the sinc interpolation on each side; it differs from the canceller's interpolation, which is being tested. */
const REACH = 16;

export function createRing(seconds: number): Ring {
  const size = transformLength(seconds * RATE_HZ);
  const mask = size - 1;
  const samples = new Float32Array(size);
  let end = 0;
  return {
    get end() {
      return end;
    },
    write(block) {
      for (const sample of block) samples[end++ & mask] = sample;
    },
    at(place) {
      const whole = Math.floor(place);
      const part = place - whole;
      if (part < 1e-9) return samples[whole & mask] ?? 0;
      const sine = Math.sin(Math.PI * part) / Math.PI;
      let sum = 0;
      for (let tap = 1 - REACH; tap <= REACH; tap++) {
        const away = part - tap;
        const sign = (tap & 1) === 0 ? sine : -sine;
        sum += (samples[(whole + tap) & mask] ?? 0) * (sign / away) * (1 - (away / (REACH + 1)) ** 2);
      }
      return sum;
    },
  };
}
