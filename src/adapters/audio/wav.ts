import { closeSync, constants, fstatSync, openSync, readSync } from 'node:fs';
import { downmix } from '../../core/audio/pcm.ts';
import { AudioFaultError, describeFileProblem } from './fault.ts';
import { FORMAT_BYTES, parse, type ReadAt, TAG, view, type WavFormat } from './wav-layout.ts';

/** An open WAV file. */
export interface WavReader {
  readonly format: WavFormat;
  /** Whole frames (one sample of each channel) that are in the file, whatever the header says. */
  readonly frames: number;
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
/** The size fields of a WAV have 32 bits and include most of the header; one byte is lost because sizes are even. */
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
  return makeReader(
    (at, bytes) => readAt(fd, at, bytes),
    stats.size,
    path,
    () => {
      if (open) closeSync(fd);
      open = false;
    },
  );
}

/** The same for a WAV file in memory. @param name for errors. @throws AudioFaultError */
export function openWavBytes(bytes: Uint8Array, name: string): WavReader {
  return makeReader(
    (at, count) => bytes.subarray(at, at + count),
    bytes.length,
    name,
    () => {},
  );
}

function makeReader(readBytes: ReadAt, fileBytes: number, path: string, close: () => void): WavReader {
  const { format, dataAt, dataBytes, promisedBytes } = parse(readBytes, fileBytes, path);
  const frameBytes = format.sampleBytes * format.channels;
  const total = Math.floor(dataBytes / frameBytes);
  return {
    format,
    frames: total,
    promisedFrames: Math.floor(promisedBytes / frameBytes),
    read(firstFrame, frames) {
      const wanted = Math.max(0, Math.min(frames, total - firstFrame));
      let raw: Uint8Array;
      try {
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

/** Raw frames as float samples of one channel, the mean of all channels. */
export function decodeFrames(raw: Uint8Array, { encoding, sampleBytes, channels }: WavFormat): Float32Array {
  const samples = new Float32Array(Math.floor(raw.length / sampleBytes));
  const fields = view(raw);
  const read = sampleReader(fields, encoding, sampleBytes);
  for (let i = 0; i < samples.length; i++) samples[i] = read(i * sampleBytes);
  return downmix(samples, channels);
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
