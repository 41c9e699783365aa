/** Decodes speech with four bits per sample: IMA ADPCM in a mono WAV file. */

import { BYTES_PER_SAMPLE } from './pcm.ts';

const STEPS = [
  7, 8, 9, 10, 11, 12, 13, 14, 16, 17, 19, 21, 23, 25, 28, 31, 34, 37, 41, 45, 50, 55, 60, 66, 73, 80, 88, 97,
  107, 118, 130, 143, 157, 173, 190, 209, 230, 253, 279, 307, 337, 371, 408, 449, 494, 544, 598, 658, 724,
  796, 876, 963, 1060, 1166, 1282, 1411, 1552, 1707, 1878, 2066, 2272, 2499, 2749, 3024, 3327, 3660, 4026,
  4428, 4871, 5358, 5894, 6484, 7132, 7845, 8630, 9493, 10_442, 11_487, 12_635, 13_899, 15_289, 16_818,
  18_500, 20_350, 22_385, 24_623, 27_086, 29_794, 32_767,
] as const;
const LAST_STEP = STEPS.length - 1;
/** Change of the step index for each size of a difference. */
const STEP_CHANGES = [-1, -1, -1, -1, 2, 4, 6, 8] as const;

const IMA_ADPCM = 0x11;
/** Header of a block (bytes): its first sample and its step. */
const BLOCK_HEAD_BYTES = 4;
const MOST_CHUNKS = 32;
/** Accepted sample rates (Hz): other rates are not used for speech, and take long to convert. */
const RATE_HZ = { min: 4000, max: 48_000 } as const;

export interface DecodedSound {
  readonly rateHz: number;
  /** Mono, 16 bits. */
  readonly pcm: Uint8Array;
}

/** Decodes a whole file as the IMA specifies (and sox implements it); null for a damaged file or another format. */
export function decodeAdpcm(file: Uint8Array): DecodedSound | null {
  const view = new DataView(file.buffer, file.byteOffset, file.byteLength);
  if (file.byteLength < 12 || nameAt(view, 0) !== 'RIFF' || nameAt(view, 8) !== 'WAVE') return null;
  let rateHz = 0;
  let blockBytes = 0;
  let samples = Number.POSITIVE_INFINITY;
  let at = 12;
  for (let count = 0; count < MOST_CHUNKS && at + 8 <= file.byteLength; count++) {
    const name = nameAt(view, at);
    const size = view.getUint32(at + 4, true);
    const body = at + 8;
    const isWhole = body + size <= file.byteLength;
    if (name === 'fmt ' && isWhole && size >= 16) {
      if (view.getUint16(body, true) !== IMA_ADPCM || view.getUint16(body + 2, true) !== 1) return null;
      rateHz = view.getUint32(body + 4, true);
      blockBytes = view.getUint16(body + 12, true);
    }
    if (name === 'fact' && isWhole && size >= 4) samples = view.getUint32(body, true);
    if (name === 'data') {
      if (rateHz < RATE_HZ.min || rateHz > RATE_HZ.max || blockBytes <= BLOCK_HEAD_BYTES) return null;
      const end = Math.min(file.byteLength, body + size);
      return { rateHz, pcm: decodeBlocks(view, { from: body, end, blockBytes, samples }) };
    }
    at = body + size + (size % 2);
  }
  return null;
}

interface Blocks {
  readonly from: number;
  readonly end: number;
  readonly blockBytes: number;
  /** Number of samples in the sound; the last block may be padded beyond it. */
  readonly samples: number;
}

function decodeBlocks(view: DataView, { from, end, blockBytes, samples }: Blocks): Uint8Array {
  const perBlock = 1 + 2 * (blockBytes - BLOCK_HEAD_BYTES);
  const blocks = Math.ceil((end - from) / blockBytes);
  const pcm = new Uint8Array(Math.min(samples, blocks * perBlock) * BYTES_PER_SAMPLE);
  const out = new DataView(pcm.buffer);
  let place = 0;
  const put = (value: number): void => {
    if (place < pcm.byteLength) out.setInt16(place, value, true);
    place += BYTES_PER_SAMPLE;
  };
  for (let block = from; block + BLOCK_HEAD_BYTES <= end; block += blockBytes) {
    let value = view.getInt16(block, true);
    let step = Math.min(LAST_STEP, view.getUint8(block + 2));
    put(value);
    const last = Math.min(block + blockBytes, end);
    for (let at = block + BLOCK_HEAD_BYTES; at < last; at++) {
      const byte = view.getUint8(at);
      for (const nibble of [byte & 15, byte >> 4]) {
        value = clamp(value + differenceOf(nibble, STEPS[step] as number), -32_768, 32_767);
        step = clamp(step + (STEP_CHANGES[nibble & 7] as number), 0, LAST_STEP);
        put(value);
      }
    }
  }
  return place < pcm.byteLength ? pcm.subarray(0, place) : pcm;
}

function differenceOf(nibble: number, step: number): number {
  let size = step >> 3;
  if ((nibble & 4) !== 0) size += step;
  if ((nibble & 2) !== 0) size += step >> 1;
  if ((nibble & 1) !== 0) size += step >> 2;
  return (nibble & 8) === 0 ? size : -size;
}

const clamp = (value: number, least: number, most: number): number => Math.max(least, Math.min(most, value));

const nameAt = (view: DataView, at: number): string =>
  String.fromCharCode(...[0, 1, 2, 3].map((offset) => view.getUint8(at + offset)));
