import { closeSync, constants, fstatSync, openSync, readSync } from 'node:fs';
import { downmix } from '../../core/audio/pcm.ts';
import { AudioFaultError, describeFileProblem } from './fault.ts';

/** The sample format of a WAV file. */
export interface WavFormat {
  readonly encoding: 'int' | 'float';
  /** Bytes that one sample of one channel takes: 1-4 for integers, 4 or 8 for floats. */
  readonly sampleBytes: number;
  readonly channels: number;
  readonly rateHz: number;
}

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
export const RATE_HZ = { min: 1000, max: 192_000 } as const;
export const MAX_CHANNELS = 8;

const TAG = { pcm: 1, float: 3, extensible: 0xfffe } as const;
const SIZE_UNKNOWN = 0xffff_ffff;
/** Real files have a handful; a hostile file with more would keep the reader busy for minutes. */
const MAX_CHUNKS = 1000;
const FORMAT_BYTES = { plain: 16, extensible: 40 } as const;
const CONVERT = 'convert it, for example with: ffmpeg -i IN -ac 1 -ar 24000 -c:a pcm_s16le OUT.wav';

/** Compressed formats that are found in WAV files, for a better message. */
const COMPRESSED: Readonly<Record<number, string>> = {
  2: 'ADPCM',
  6: 'A-law',
  7: 'mu-law',
  17: 'IMA ADPCM',
  49: 'GSM',
  80: 'MPEG',
  85: 'MP3',
  255: 'AAC',
};

/** Other files that are often taken for a WAV, by their first bytes. */
const OTHER_FORMATS: readonly (readonly [RegExp, string])[] = [
  [/^fLaC/, 'FLAC'],
  [/^OggS/, 'Ogg'],
  [/^(ID3|\xff[\xe2-\xfb])/, 'MP3'],
  [/^....ftyp/s, 'MP4 or M4A'],
  [/^FORM/, 'AIFF'],
  [/^\.snd/, 'AU'],
  [/^RIFX/, 'a big-endian WAV'],
];

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

type ReadAt = (at: number, bytes: number) => Uint8Array;
interface Layout {
  readonly format: WavFormat;
  readonly dataAt: number;
  readonly dataBytes: number;
  readonly promisedBytes: number;
}

function parse(read: ReadAt, fileBytes: number, path: string): Layout {
  const riff = read(0, 12);
  const magic = text(riff, 0, 4);
  const known = magic === 'RIFF' || magic === 'RF64' || magic === 'BW64';
  if (!known || text(riff, 8, 4) !== 'WAVE') throw notWav(riff, path);
  const riffBytes = view(riff).getUint32(4, true);

  let format: WavFormat | null = null;
  let longDataBytes: number | null = null;
  let at = 12;
  for (let count = 0; count < MAX_CHUNKS; count++) {
    const head = read(at, 8);
    if (head.length < 8) break;
    const id = text(head, 0, 4);
    const size = view(head).getUint32(4, true);
    const bodyAt = at + 8;
    if (id === 'fmt ') format = parseFormat(read(bodyAt, Math.min(size, FORMAT_BYTES.extensible)), path);
    if (id === 'ds64') longDataBytes = readLongSize(read(bodyAt, 16));
    if (id === 'data') {
      if (format === null) throw damaged(path, 'its format is not described before its sound');
      const there = fileBytes - bodyAt;
      const said = size === SIZE_UNKNOWN && longDataBytes !== null ? longDataBytes : size;
      // A writer into a pipe that never learnt the size leaves 0; a truly empty file has a RIFF size that fits.
      const unknown = said === 0 && Math.abs(riffBytes + 8 - fileBytes) > 1;
      return {
        format,
        dataAt: bodyAt,
        dataBytes: unknown ? there : Math.min(said, there),
        promisedBytes: said,
      };
    }
    at = bodyAt + size + (size % 2);
  }
  throw damaged(path, 'it holds no sound');
}

function readLongSize(ds64: Uint8Array): number | null {
  return ds64.length < 16 ? null : Number(view(ds64).getBigUint64(8, true));
}

function parseFormat(chunk: Uint8Array, path: string): WavFormat {
  if (chunk.length < FORMAT_BYTES.plain) throw damaged(path, 'the description of its format is cut off');
  const fields = view(chunk);
  let tag = fields.getUint16(0, true);
  const channels = fields.getUint16(2, true);
  const rateHz = fields.getUint32(4, true);
  const frameBytes = fields.getUint16(12, true);
  if (tag === TAG.extensible) {
    if (chunk.length < FORMAT_BYTES.extensible)
      throw damaged(path, 'the description of its format is cut off');
    tag = fields.getUint16(24, true);
  }
  if (tag !== TAG.pcm && tag !== TAG.float) {
    const name = COMPRESSED[tag] ?? `format ${tag}`;
    throw new AudioFaultError(
      'format',
      `${path} is compressed (${name}), which is not supported; ${CONVERT}`,
    );
  }
  if (channels < 1 || channels > MAX_CHANNELS) {
    const message = `${path} has ${channels} channels; 1 to ${MAX_CHANNELS} are supported; ${CONVERT}`;
    throw new AudioFaultError('format', message);
  }
  if (rateHz < RATE_HZ.min || rateHz > RATE_HZ.max) {
    const message = `${path} has a sample rate of ${rateHz} Hz; ${RATE_HZ.min} to ${RATE_HZ.max} are supported; ${CONVERT}`;
    throw new AudioFaultError('format', message);
  }
  const encoding = tag === TAG.float ? 'float' : 'int';
  // The container counts: 20 bits in 3 bytes, or 24 in 4, are in its upper bits.
  const sampleBytes = frameBytes / channels;
  if (!(encoding === 'float' ? [4, 8] : [1, 2, 3, 4]).includes(sampleBytes)) {
    const message = `${path} has ${encoding} samples of ${sampleBytes} bytes, which are not supported; ${CONVERT}`;
    throw new AudioFaultError('format', message);
  }
  return { encoding, sampleBytes, channels, rateHz };
}

function notWav(start: Uint8Array, path: string): AudioFaultError {
  if (start.length === 0) return new AudioFaultError('format', `${path} is not a WAV file: it is empty`);
  const bytes = text(start, 0, start.length);
  const other = OTHER_FORMATS.find(([pattern]) => pattern.test(bytes));
  const kind = other === undefined ? '' : ` (it looks like ${other[1]})`;
  return new AudioFaultError('format', `${path} is not a WAV file${kind}; ${CONVERT}`);
}

function damaged(path: string, how: string): AudioFaultError {
  return new AudioFaultError('format', `${path} is a damaged WAV file: ${how}; make it again or ${CONVERT}`);
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

function text(bytes: Uint8Array, from: number, length: number): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString(
    'latin1',
    from,
    from + length,
  );
}

function view(bytes: Uint8Array): DataView {
  return new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}
