/** Parses the header of a WAV file: its format, and where its sound is. */
import { AudioFaultError } from './fault.ts';

/** The sample format of a WAV file. */
export interface WavFormat {
  readonly encoding: 'int' | 'float';
  /** Bytes that one sample of one channel takes: 1-4 for integers, 4 or 8 for floats. */
  readonly sampleBytes: number;
  readonly channels: number;
  readonly rateHz: number;
  /** The only channel to use, counted from 0; absent: the mean of all channels. */
  readonly only?: number;
}

export const RATE_HZ = { min: 1000, max: 192_000 } as const;
export const MAX_CHANNELS = 8;

export const TAG = { pcm: 1, float: 3, extensible: 0xfffe } as const;
const SIZE_UNKNOWN = 0xffff_ffff;
/** Maximum number of chunks: real files have a handful, and a hostile file could keep the reader busy for minutes. */
const MAX_CHUNKS = 1000;
export const FORMAT_BYTES = { plain: 16, extensible: 40 } as const;
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

export type ReadAt = (at: number, bytes: number) => Uint8Array;
export interface Layout {
  readonly format: WavFormat;
  readonly dataAt: number;
  readonly promisedBytes: number;
  /** Bytes of sound in a file of this length. */
  dataBytes(fileBytes: number): number;
}

export function parse(read: ReadAt, path: string): Layout {
  const riff = read(0, 12);
  const magic = text(riff, 0, 4);
  const known = magic === 'RIFF' || magic === 'RF64' || magic === 'BW64';
  if (!known || text(riff, 8, 4) !== 'WAVE') throw notWav(riff, path);
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
      if (format === null) throw damaged(path, 'no "fmt " chunk before the "data" chunk');
      const said = size === SIZE_UNKNOWN && longDataBytes !== null ? longDataBytes : size;
      // A recorder that streams or was killed leaves a size of 0. If the sound really is empty, only chunks follow.
      const dataBytes = (bytes: number): number => {
        const there = Math.max(0, bytes - bodyAt);
        const isKnown = said < there && (said > 0 || areChunks(read, bodyAt, bytes));
        return isKnown ? said : there - trailerBytes(read, bodyAt, bytes);
      };
      return { format, dataAt: bodyAt, dataBytes, promisedBytes: said };
    }
    at = bodyAt + size + (size % 2);
  }
  throw damaged(path, 'it holds no sound');
}

/** Chunks that writers put after the sound. */
const TRAILERS: ReadonlySet<string> = new Set(
  'LIST,id3 ,ID3 ,bext,iXML,axml,aXML,_PMX,cue ,smpl,inst,fact,JUNK,junk,PAD ,PEAK,afsp,cart,chna'.split(','),
);
/** Longest trailer to look for (bytes). Trailers with a picture are longer, but such files state the size of the sound. */
const LONGEST_TRAILER = 65_536;
const ID3V1_BYTES = 128;

/** Bytes after the sound that are chunks or a tag, when the size of the sound is not known. */
function trailerBytes(read: ReadAt, dataAt: number, fileBytes: number): number {
  const from = Math.max(dataAt, fileBytes - LONGEST_TRAILER);
  const tail = read(from, Math.max(0, fileBytes - from));
  const tagAt = tail.length - ID3V1_BYTES;
  if (tagAt >= 0 && text(tail, tagAt, 3) === 'TAG') return ID3V1_BYTES;
  for (let at = 0; at + 8 <= tail.length; at++) if (isTrailer(tail, at)) return tail.length - at;
  return 0;
}

/** Whether known chunks fill the bytes from `from` to the end; the last one may lack its pad byte. */
function isTrailer(tail: Uint8Array, from: number): boolean {
  let at = from;
  while (at + 8 <= tail.length && TRAILERS.has(text(tail, at, 4))) {
    const size = view(tail).getUint32(at + 4, true);
    at += 8 + size + (size % 2);
  }
  return at > from && (at === tail.length || at === tail.length + 1);
}

/** Whether chunks of any kind fill the bytes from `from` to the end; the last one may lack its pad byte. */
function areChunks(read: ReadAt, from: number, fileBytes: number): boolean {
  let at = from;
  for (let count = 0; count < MAX_CHUNKS && at < fileBytes; count++) {
    const head = read(at, 8);
    if (head.length < 8 || !/^[ -~]{4}$/.test(text(head, 0, 4))) return false;
    const size = view(head).getUint32(4, true);
    at += 8 + size + (size % 2);
  }
  return at === fileBytes || at === fileBytes + 1;
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
  // The container's size counts: 20 bits in 3 bytes, or 24 bits in 4, occupy its upper bits.
  const sampleBytes = frameBytes / channels;
  const bits = fields.getUint16(14, true);
  if (!canHold(sampleBytes, bits)) {
    const frame = `${frameBytes} bytes for ${channels} ${channels === 1 ? 'channel' : 'channels'}`;
    const message = `${path} contradicts itself: ${bits} bits per sample, and a frame of ${frame}; ${CONVERT}`;
    throw new AudioFaultError('format', message);
  }
  if (!(encoding === 'float' ? [4, 8] : [1, 2, 3, 4]).includes(sampleBytes)) {
    const message = `${path} has ${encoding} samples of ${sampleBytes} bytes, which are not supported; ${CONVERT}`;
    throw new AudioFaultError('format', message);
  }
  return { encoding, sampleBytes, channels, rateHz };
}

/** Whether this container size (bytes) fits this sample size (bits): the smallest that fits, or 4 in place of 3. */
function canHold(sampleBytes: number, bits: number): boolean {
  const least = Math.ceil(bits / 8);
  return sampleBytes === least || (sampleBytes === 4 && least === 3);
}

function notWav(start: Uint8Array, path: string): AudioFaultError {
  if (start.length === 0) return new AudioFaultError('format', `${path} is not a WAV file: it is empty`);
  const bytes = text(start, 0, start.length);
  const other = OTHER_FORMATS.find(([pattern]) => pattern.test(bytes));
  const kind = other === undefined ? '' : ` (it looks like ${other[1]})`;
  return new AudioFaultError('format', `${path} is not a WAV file${kind}; ${CONVERT}`);
}

function damaged(path: string, how: string): AudioFaultError {
  return new AudioFaultError(
    'format',
    `${path} is a damaged WAV file: ${how}; create it again or ${CONVERT}`,
  );
}

function text(bytes: Uint8Array, from: number, length: number): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString(
    'latin1',
    from,
    from + length,
  );
}

export function view(bytes: Uint8Array): DataView {
  return new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}
