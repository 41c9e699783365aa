/**
 * Arithmetic on sound. PCM here is always signed 16-bit little-endian in a `Uint8Array` of any alignment;
 * float samples run from -1 to 1. No function keeps or changes its argument.
 */

export const BYTES_PER_SAMPLE = 2;

/** The level of digital silence: finite, so that it can be averaged, compared and sent as JSON. */
export const SILENCE_DBFS = -96;

const FULL_SCALE = 32768;

/** The level of 16-bit sound with this mean square. 0 dBFS is a full-scale square wave, so a full-scale sine has -3. */
export function levelOfPower(power: number): number {
  return toDbfs(Math.sqrt(power));
}

function toDbfs(amplitude: number): number {
  return Math.max(SILENCE_DBFS, 20 * Math.log10(amplitude / FULL_SCALE));
}

/** Number of whole samples in mono PCM; half a sample at the end does not count. */
export function sampleCount(pcm: Uint8Array): number {
  return Math.floor(pcm.byteLength / BYTES_PER_SAMPLE);
}

/** The samples of 16-bit little-endian PCM, as a view if the alignment allows. Half a sample at the end is dropped. */
export function samplesOf(bytes: Uint8Array): Int16Array {
  const length = bytes.byteLength >> 1;
  if (bytes.byteOffset % 2 === 0) return new Int16Array(bytes.buffer, bytes.byteOffset, length);
  return new Int16Array(bytes.slice(0, length * 2).buffer, 0, length);
}

/** Exact, so the order of additions does not matter: even the sum over a second fits in 53 bits. */
export function sumOfSquares(samples: Int16Array, from: number, until: number): number {
  let squares = 0;
  let at = from;
  // Every sample passes here: processing four at a time takes half as long.
  for (; at + 4 <= until; at += 4) {
    const a = samples[at] ?? 0;
    const b = samples[at + 1] ?? 0;
    const c = samples[at + 2] ?? 0;
    const d = samples[at + 3] ?? 0;
    squares += a * a + b * b + (c * c + d * d);
  }
  for (; at < until; at++) {
    const sample = samples[at] ?? 0;
    squares += sample * sample;
  }
  return squares;
}

export function sumOf(samples: Int16Array, from: number, until: number): number {
  let sum = 0;
  for (let at = from; at < until; at++) sum += samples[at] as number;
  return sum;
}

/** Duration of this much mono PCM. */
export function durationMs(bytes: number, rateHz: number): number {
  return ((bytes / BYTES_PER_SAMPLE) * 1000) / rateHz;
}

/** Digital silence in a new buffer. */
export function silence(bytes: number): Uint8Array {
  return new Uint8Array(bytes);
}

/** Joins stretches of sound; a single one is not copied. */
export function joinPcm(parts: readonly Uint8Array[]): Uint8Array {
  const [first] = parts;
  if (parts.length === 1 && first !== undefined) return first;
  const whole = new Uint8Array(parts.reduce((bytes, part) => bytes + part.byteLength, 0));
  let at = 0;
  for (const part of parts) {
    whole.set(part, at);
    at += part.byteLength;
  }
  return whole;
}

/**
 * The amplitude factor of a volume of 0-100 (clamped). Cubic like in sound servers, because hearing is not linear: 50
 * sounds about half as loud (-18 dB), 100 changes nothing, 0 is silence.
 */
export function volumeGain(volume: number): number {
  const fraction = Math.min(100, Math.max(0, volume)) / 100;
  return fraction ** 3;
}

/** Scales samples; saturates instead of wrapping round. A gain of 1 returns `pcm` itself, bit-exact. */
export function applyGain(pcm: Uint8Array, gain: number): Uint8Array {
  if (gain === 1) return pcm;
  const from = samplesOf(pcm);
  const scaled = new Int16Array(from.length);
  for (let at = 0; at < scaled.length; at++) scaled[at] = saturate((from[at] as number) * gain);
  return new Uint8Array(scaled.buffer);
}

/** PCM to float samples; `toPcm` restores the same bytes. */
export function toFloat(pcm: Uint8Array): Float32Array {
  const view = viewOf(pcm);
  const samples = new Float32Array(sampleCount(pcm));
  for (let i = 0; i < samples.length; i++)
    samples[i] = view.getInt16(i * BYTES_PER_SAMPLE, true) / FULL_SCALE;
  return samples;
}

/** Float samples to PCM, rounded to the nearest step. Values beyond full scale saturate; NaN becomes 0. */
export function toPcm(samples: Float32Array): Uint8Array {
  const pcm = new Uint8Array(samples.length * BYTES_PER_SAMPLE);
  const view = viewOf(pcm);
  let at = 0;
  for (const sample of samples) {
    view.setInt16(at, saturate(sample * FULL_SCALE), true);
    at += BYTES_PER_SAMPLE;
  }
  return pcm;
}

/** Mixes interleaved channels to one by their mean, so that equal channels stay unchanged. An incomplete frame is dropped. */
export function downmix(interleaved: Float32Array, channels: number): Float32Array {
  if (channels === 1) return interleaved;
  const mono = new Float32Array(Math.floor(interleaved.length / channels));
  for (let frame = 0; frame < mono.length; frame++) {
    let sum = 0;
    for (let channel = 0; channel < channels; channel++) sum += interleaved[frame * channels + channel] ?? 0;
    mono[frame] = sum / channels;
  }
  return mono;
}

function saturate(value: number): number {
  if (value >= FULL_SCALE - 1) return FULL_SCALE - 1;
  if (value <= -FULL_SCALE) return -FULL_SCALE;
  return roundSample(value);
}

/** The nearest whole number. `Math.round` takes ten times as long, and every played sample is rounded twice. */
export function roundSample(value: number): number {
  return Math.floor(value + 0.5);
}

function viewOf(pcm: Uint8Array): DataView {
  return new DataView(pcm.buffer, pcm.byteOffset, pcm.byteLength);
}
