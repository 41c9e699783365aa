import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';

/** A folder that is removed after the test. */
export function makeFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'dragoman-audio-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/** Writes bytes to a file that is removed after the test. */
export function writeTemp(bytes: Uint8Array, name = 'in.wav'): string {
  const path = join(makeFolder(), name);
  writeFileSync(path, bytes);
  return path;
}

export interface WavParts {
  readonly tag?: number;
  readonly bits?: number;
  /** Bytes of one sample of all channels in the header; the true number by default. */
  readonly frameBytes?: number;
  readonly channels?: number;
  readonly rateHz?: number;
  readonly data?: Uint8Array;
  /** The data chunk's size in the header; the true size by default. */
  readonly dataSize?: number;
  readonly riffSize?: number;
  readonly magic?: string;
  /** Wraps the tag into WAVE_FORMAT_EXTENSIBLE. */
  readonly extensible?: boolean;
  /** Chunks between the format and the data, and after the data. */
  readonly before?: readonly Uint8Array[];
  readonly after?: readonly Uint8Array[];
}

/** A chunk with its pad byte. */
export function makeChunk(id: string, body: Uint8Array, size = body.length): Buffer {
  const head = Buffer.alloc(8);
  head.write(id, 0, 'latin1');
  head.writeUInt32LE(size, 4);
  return Buffer.concat([head, body, Buffer.alloc(body.length % 2)]);
}

/** Assembles a WAV file by hand, independently of the code under test. */
export function makeWav(parts: WavParts): Buffer {
  const {
    tag = 1,
    bits = 16,
    channels = 1,
    rateHz = 24_000,
    data = new Uint8Array(0),
    extensible = false,
  } = parts;
  const fmt = Buffer.alloc(extensible ? 40 : 16);
  fmt.writeUInt16LE(extensible ? 0xfffe : tag, 0);
  fmt.writeUInt16LE(channels, 2);
  fmt.writeUInt32LE(rateHz, 4);
  fmt.writeUInt32LE(Math.floor((rateHz * channels * bits) / 8), 8);
  fmt.writeUInt16LE(parts.frameBytes ?? Math.floor((channels * bits) / 8), 12);
  fmt.writeUInt16LE(bits, 14);
  if (extensible) {
    fmt.writeUInt16LE(22, 16);
    fmt.writeUInt16LE(bits, 18);
    fmt.writeUInt16LE(tag, 24);
    Buffer.from('000000001000800000aa00389b71', 'hex').copy(fmt, 26);
  }
  const body = Buffer.concat([
    Buffer.from('WAVE', 'latin1'),
    makeChunk('fmt ', fmt),
    ...(parts.before ?? []),
    makeChunk('data', data, parts.dataSize ?? data.length),
    ...(parts.after ?? []),
  ]);
  return makeRiff(parts.magic ?? 'RIFF', body, parts.riffSize ?? body.length);
}

function makeRiff(magic: string, body: Uint8Array, size: number): Buffer {
  const head = Buffer.alloc(8);
  head.write(magic, 0, 'latin1');
  head.writeUInt32LE(size, 4);
  return Buffer.concat([head, body]);
}

/** PCM from sample values. */
export function makePcm(samples: readonly number[]): Buffer {
  const pcm = Buffer.alloc(samples.length * 2);
  for (const [i, value] of samples.entries()) pcm.writeInt16LE(value, i * 2);
  return pcm;
}

/** This many samples, each with its own position as value, none of them 0. */
export function makeNumbered(count: number): Buffer {
  return makePcm(Array.from({ length: count }, (_, i) => (i % 30_000) + 1));
}

/** A tone. */
export function makeTone(hz: number, seconds: number, rateHz: number, amplitude = 0.5): Buffer {
  return makePcm(
    Array.from({ length: Math.round(seconds * rateHz) }, (_, i) =>
      Math.round(amplitude * 32767 * Math.sin((2 * Math.PI * hz * i) / rateHz)),
    ),
  );
}

export function readSamples(pcm: Uint8Array): number[] {
  const view = new DataView(pcm.buffer, pcm.byteOffset, pcm.byteLength);
  return Array.from({ length: Math.floor(pcm.byteLength / 2) }, (_, i) => view.getInt16(i * 2, true));
}

/** The power of one frequency in samples, as a part of 1 of full scale (Goertzel with a Hann window). */
export function measureTone(samples: readonly number[], hz: number, rateHz: number): number {
  let re = 0;
  let im = 0;
  for (const [i, value] of samples.entries()) {
    const window = 0.5 - 0.5 * Math.cos((2 * Math.PI * i) / (samples.length - 1));
    re += window * value * Math.cos((2 * Math.PI * hz * i) / rateHz);
    im += window * value * Math.sin((2 * Math.PI * hz * i) / rateHz);
  }
  return (Math.hypot(re, im) * 4) / samples.length / 32768;
}
