import { BYTES_PER_SAMPLE, toPcm } from '../../sound/pcm.ts';
import { AudioFaultError } from './fault.ts';
import { createResampler } from './resampler.ts';
import { decodeFrames, openWav, type WavReader } from './wav.ts';

/** A WAV file as mono PCM at a chosen rate, read on demand: an hour takes no more memory than a second. */
export interface SoundSource {
  /**
   * The next stretch of sound; shorter only at the end.
   * @throws AudioFaultError when the file cannot be read just now; nothing is skipped, so the call can be repeated
   */
  read(samples: number): Uint8Array;
  /** All sound was delivered; never true for a loop. */
  readonly ended: boolean;
  /** Length of the sound when the file was opened (ms). */
  readonly lengthMs: number;
  /** How its unusual sound was handled, as a sentence; null when it is usual. */
  readonly note: string | null;
  close(): void;
}

export interface SoundSourceOptions {
  readonly rateHz: number;
  readonly loop?: boolean;
}

/** Sound per read (milliseconds): few system calls, and a slow disk does not block the event loop for long. */
const BLOCK_MS = 100;
const MAX_LOADED_BYTES = 256 * 1024 * 1024;

/** Opens a WAV file as a source. 16-bit mono at the wanted rate comes out bit-exact. */
export async function openSource(path: string, options: SoundSourceOptions): Promise<SoundSource> {
  const reader = openWav(path);
  try {
    if (reader.frames === 0) throw new AudioFaultError('format', `${path} holds no sound; record it again`);
    return await createSource(reader, options);
  } catch (error) {
    reader.close();
    throw error;
  }
}

/**
 * Loads a whole WAV file as mono PCM, at its own rate by default.
 * @throws AudioFaultError also when it would take more than `maxBytes`
 */
export async function loadWav(
  path: string,
  { rateHz, maxBytes = MAX_LOADED_BYTES }: { rateHz?: number; maxBytes?: number } = {},
): Promise<{ rateHz: number; pcm: Uint8Array }> {
  const reader = openWav(path);
  const toHz = rateHz ?? reader.format.rateHz;
  const bytes = Math.round((reader.frames * toHz) / reader.format.rateHz) * BYTES_PER_SAMPLE;
  try {
    if (bytes > maxBytes) {
      const limit = Math.floor(maxBytes / BYTES_PER_SAMPLE / toHz);
      throw new AudioFaultError('format', `${path} is too long: at most ${limit} s can be loaded; cut it`);
    }
    const source = await createSource(reader, { rateHz: toHz });
    const pcm = source.read(bytes / BYTES_PER_SAMPLE);
    source.close();
    return { rateHz: toHz, pcm };
  } finally {
    reader.close();
  }
}

async function createSource(
  reader: WavReader,
  { rateHz, loop = false }: SoundSourceOptions,
): Promise<SoundSource> {
  const blocks = await createBlocks(reader, rateHz, loop);
  /** Sound that was read but not yet returned. */
  const waiting: Uint8Array[] = [];
  let waitingBytes = 0;
  let exhausted = false;

  const fill = (bytes: number): void => {
    while (!exhausted && waitingBytes < bytes) {
      const block = blocks.next();
      if (block === null) exhausted = true;
      else if (block.length > 0) waiting.push(block);
      waitingBytes += block?.length ?? 0;
    }
  };
  return {
    read(samples) {
      const wanted = samples * BYTES_PER_SAMPLE;
      fill(wanted + 1); // One byte more shows at once whether this is the end.
      const pcm = take(waiting, Math.min(wanted, waitingBytes));
      waitingBytes -= pcm.length;
      return pcm;
    },
    lengthMs: (reader.frames / reader.format.rateHz) * 1000,
    note: reader.note,
    get ended() {
      return exhausted && waitingBytes === 0;
    },
    close() {
      blocks.close();
      reader.close();
    },
  };
}

/** Supplies the sound block by block; null when there is no more. */
interface Blocks {
  next(): Uint8Array | null;
  close(): void;
}

async function createBlocks(reader: WavReader, rateHz: number, loop: boolean): Promise<Blocks> {
  const { format } = reader;
  const blockFrames = Math.ceil((format.rateHz * BLOCK_MS) / 1000);
  let frame = 0;
  const nextRaw = (): Uint8Array | null => {
    let raw = reader.read(frame, blockFrames);
    if (loop && raw.length === 0) {
      frame = 0;
      raw = reader.read(frame, blockFrames);
    }
    frame += raw.length / (format.sampleBytes * format.channels);
    return raw.length === 0 ? null : raw;
  };
  const isPlain =
    format.encoding === 'int' && format.sampleBytes === BYTES_PER_SAMPLE && format.channels === 1;
  if (isPlain && format.rateHz === rateHz) return { next: nextRaw, close() {} };

  const resampler = await createResampler({ fromHz: format.rateHz, toHz: rateHz });
  let flushed = false;
  return {
    next() {
      if (flushed) return null;
      const raw = nextRaw();
      flushed = raw === null;
      return toPcm(raw === null ? resampler.flush() : resampler.convert(decodeFrames(raw, format)));
    },
    close: () => resampler.close(),
  };
}

/** Takes this many bytes, which must be there, from the front; copies only when they span two blocks. */
function take(blocks: Uint8Array[], bytes: number): Uint8Array {
  const first = blocks.shift() ?? new Uint8Array(0);
  if (first.length > bytes) blocks.unshift(first.subarray(bytes));
  if (first.length >= bytes) return first.subarray(0, bytes);
  const taken = new Uint8Array(bytes);
  taken.set(first);
  for (let at = first.length; at < bytes; ) {
    const block = blocks.shift();
    if (block === undefined) break;
    if (block.length > bytes - at) blocks.unshift(block.subarray(bytes - at));
    taken.set(block.subarray(0, bytes - at), at);
    at += block.length;
  }
  return taken;
}
