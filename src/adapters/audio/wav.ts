import { closeSync, constants, fstatSync, openSync, readSync } from 'node:fs';
import { downmix } from '../../sound/pcm.ts';
import { AudioFaultError, describeFileProblem } from './fault.ts';
import { FORMAT_BYTES, parse, type ReadAt, TAG, view, type WavFormat } from './wav-layout.ts';

/** An open WAV file. */
export interface WavReader {
  readonly format: WavFormat;
  /** Whole frames (one sample of each channel) that are in the file, whatever the header says. The file may grow. */
  readonly frames: number;
  /** How its unusual sound was handled, as a sentence; null when it is usual. */
  readonly note: string | null;
  /** Frames that the header promises; 0 also when the writer never learnt the size. */
  readonly promisedFrames: number;
  /**
   * Reads raw frames: fewer at the end, none after it.
   * @throws AudioFaultError when the file can no longer be read
   */
  read(firstFrame: number, frames: number): Uint8Array;
  close(): void;
}

export const HEADER_BYTES = 44;
/** The size fields of a WAV have 32 bits and include most of the header. One byte less, because sizes are even. */
export const MAX_DATA_BYTES = 0xffff_ffff - HEADER_BYTES + 8 - 1;

/**
 * Opens a WAV file: integers of 8-32 bits, floats of 32 or 64, 1-8 channels, also as WAVE_FORMAT_EXTENSIBLE or RF64.
 * Wrong size fields are common after a pipe or a crash; then the real length of the file counts.
 * @throws AudioFaultError that names the file and what to do
 */
export function openWav(path: string): WavReader {
  let fd: number;
  try {
    fd = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK); // A named pipe must not block the program.
  } catch (error) {
    throw describeFileProblem(error, 'read', path);
  }
  try {
    return createReader(fd, path);
  } catch (error) {
    closeSync(fd);
    throw error instanceof AudioFaultError ? error : describeFileProblem(error, 'read', path);
  }
}

function createReader(fd: number, path: string): WavReader {
  const stats = fstatSync(fd);
  if (stats.isDirectory()) throw new AudioFaultError('not_found', `${path} is a folder; name a WAV file`);
  if (!stats.isFile()) throw new AudioFaultError('format', `${path} is not a regular file; name a WAV file`);
  let open = true;
  return makeReader({
    path,
    read: (at, bytes) => readAt(fd, at, bytes),
    size: () => (open ? fstatSync(fd).size : 0),
    close() {
      if (open) closeSync(fd);
      open = false;
    },
  });
}

/** Opens a WAV file in memory. @param name for errors. @throws AudioFaultError */
export function openWavBytes(bytes: Uint8Array, name: string): WavReader {
  const read: ReadAt = (at, count) => bytes.subarray(at, at + count);
  return makeReader({ path: name, read, size: () => bytes.length, close() {} });
}

interface WavBytes {
  /** For errors. */
  readonly path: string;
  readonly read: ReadAt;
  /** Present length of the file. */
  size(): number;
  close(): void;
}

function makeReader({ path, read: readBytes, size, close }: WavBytes): WavReader {
  const { format, dataAt, dataBytes, promisedBytes } = parse(readBytes, path);
  const frameBytes = format.sampleBytes * format.channels;
  let fileBytes = size();
  let total = Math.floor(dataBytes(fileBytes) / frameBytes);
  const followGrowth = (): void => {
    const now = size();
    if (now <= fileBytes) return;
    fileBytes = now;
    total = Math.floor(dataBytes(fileBytes) / frameBytes);
  };
  const only = soleChannel(format, total, (frame, frames) =>
    readBytes(dataAt + frame * frameBytes, frames * frameBytes),
  );
  return {
    format: only === null ? format : { ...format, only },
    get frames() {
      followGrowth();
      return total;
    },
    note:
      only === null
        ? null
        : `the channels of ${path} cancel each other out (opposite phase): channel ${only + 1} alone is used`,
    promisedFrames: Math.floor(promisedBytes / frameBytes),
    read(firstFrame, frames) {
      let raw: Uint8Array;
      try {
        if (firstFrame + frames > total) followGrowth();
        const wanted = Math.max(0, Math.min(frames, total - firstFrame));
        raw = readBytes(dataAt + firstFrame * frameBytes, wanted * frameBytes);
      } catch (error) {
        throw describeFileProblem(error, 'read', path);
      }
      return raw.subarray(0, raw.length - (raw.length % frameBytes));
    },
    close,
  };
}

/** Reads up to `bytes`, fewer only at the end of the file. */
function readAt(fd: number, at: number, bytes: number): Uint8Array {
  const buffer = new Uint8Array(bytes);
  let filled = 0;
  while (filled < bytes) {
    const got = readSync(fd, buffer, filled, bytes - filled, at + filled);
    if (got === 0) break;
    filled += got;
  }
  return buffer.subarray(0, filled);
}

/** Number of probes, spread over a file: enough to hit speech between pauses. */
const PROBES = 20;
/** Length of a probe (milliseconds). */
const PROBE_MS = 100;
/** If the mean has less than this share of the loudest channel's power, channels cancel out. One active channel of eight leaves 1/64. */
const CANCELLED_POWER = 0.01;

/** The loudest channel when the mean of all is nearly silent, as with opposite phases; otherwise null. */
function soleChannel(
  format: WavFormat,
  total: number,
  read: (frame: number, frames: number) => Uint8Array,
): number | null {
  const { channels, rateHz, sampleBytes } = format;
  if (channels === 1) return null;
  const frames = Math.ceil((rateHz * PROBE_MS) / 1000);
  const powers = Array.from({ length: channels }, () => 0);
  let mixed = 0;
  for (let probe = 0; probe < PROBES; probe++) {
    const at = Math.floor((Math.max(0, total - frames) * probe) / (PROBES - 1));
    const raw = read(at, Math.min(frames, total - at));
    const whole = raw.subarray(0, raw.length - (raw.length % (sampleBytes * channels)));
    mixed += powerOf(decodeFrames(whole, format));
    for (const [channel, power] of powers.entries())
      powers[channel] = power + powerOf(decodeFrames(whole, { ...format, only: channel }));
  }
  const loudest = Math.max(...powers);
  return mixed < loudest * CANCELLED_POWER ? powers.indexOf(loudest) : null;
}

function powerOf(samples: Float32Array): number {
  return samples.reduce((sum, sample) => sum + sample * sample, 0);
}

/** Raw frames as float samples of one channel: the mean of all channels, or the only one that is used. */
export function decodeFrames(raw: Uint8Array, format: WavFormat): Float32Array {
  const { encoding, sampleBytes, channels, only } = format;
  const samples = new Float32Array(Math.floor(raw.length / sampleBytes));
  const fields = view(raw);
  const read = sampleReader(fields, encoding, sampleBytes);
  for (let i = 0; i < samples.length; i++) samples[i] = read(i * sampleBytes);
  if (only === undefined) return downmix(samples, channels);
  return samples.filter((_, index) => index % channels === only);
}

function sampleReader(fields: DataView, encoding: string, sampleBytes: number): (at: number) => number {
  if (encoding === 'float') {
    return sampleBytes === 8 ? (at) => fields.getFloat64(at, true) : (at) => fields.getFloat32(at, true);
  }
  switch (sampleBytes) {
    case 1:
      return (at) => (fields.getUint8(at) - 128) / 2 ** 7; // The only unsigned format.
    case 2:
      return (at) => fields.getInt16(at, true) / 2 ** 15;
    case 3:
      return (at) => ((fields.getUint8(at) << 8) | (fields.getInt16(at + 1, true) << 16)) / 2 ** 31;
    default:
      return (at) => fields.getInt32(at, true) / 2 ** 31;
  }
}

/** The 44-byte header before 16-bit PCM. */
export function makeHeader(options: { rateHz: number; dataBytes: number; channels?: number }): Uint8Array {
  const { rateHz, dataBytes, channels = 1 } = options;
  const frameBytes = channels * 2;
  const header = Buffer.alloc(HEADER_BYTES);
  header.write('RIFF', 0, 'latin1');
  header.writeUInt32LE(HEADER_BYTES - 8 + dataBytes, 4);
  header.write('WAVEfmt ', 8, 'latin1');
  header.writeUInt32LE(FORMAT_BYTES.plain, 16);
  header.writeUInt16LE(TAG.pcm, 20);
  header.writeUInt16LE(channels, 22);
  header.writeUInt32LE(rateHz, 24);
  header.writeUInt32LE(rateHz * frameBytes, 28);
  header.writeUInt16LE(frameBytes, 32);
  header.writeUInt16LE(16, 34);
  header.write('data', 36, 'latin1');
  header.writeUInt32LE(dataBytes, 40);
  return header;
}
