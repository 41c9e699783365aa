import { describe, expect, it } from 'vitest';
import { type Chunk, createChunker } from '../../src/sound/chunker.ts';
import { fc } from '../properties.ts';

const CHUNK_SAMPLES = 7;
const RATE_HZ = 8000;
const START_MS = 5000;

/** Sound in which every byte encodes its position. */
function numbered(bytes: number): Uint8Array {
  return Uint8Array.from({ length: bytes }, (_, i) => (i * 131 + (i >> 8)) & 0xff);
}

/** Capture time of sample `index` (from 0) of a source that began at START_MS. */
function capturedAt(index: number): number {
  return START_MS + ((index + 1) * 1000) / RATE_HZ;
}

function pushAll(sound: Uint8Array, pieceSamples: readonly number[], firstSeq?: number) {
  const chunker = createChunker({
    chunkSamples: CHUNK_SAMPLES,
    rateHz: RATE_HZ,
    ...(firstSeq === undefined ? {} : { firstSeq }),
  });
  const chunks: Chunk[] = [];
  let sample = 0;
  for (const count of pieceSamples) {
    const piece = sound.slice(sample * 2, (sample + count) * 2);
    sample += count;
    chunks.push(...chunker.push(piece, capturedAt(sample - 1)));
  }
  return { chunks, chunker };
}

const pieces = fc.array(fc.integer({ min: 0, max: 40 }), { maxLength: 40 });

describe('chunker', () => {
  it('loses and reorders nothing, whatever sizes the device delivers', () => {
    fc.assert(
      fc.property(pieces, (sizes) => {
        const total = sizes.reduce((sum, size) => sum + size, 0);
        const sound = numbered(total * 2);
        const { chunks, chunker } = pushAll(sound, sizes);
        const whole = Math.floor(total / CHUNK_SAMPLES);
        expect(chunks).toHaveLength(whole);
        expect(chunks.every((chunk) => chunk.pcm.byteLength === CHUNK_SAMPLES * 2)).toBe(true);
        expect(chunks.map((chunk) => chunk.seq)).toEqual(Array.from({ length: whole }, (_, i) => i));
        expect(Buffer.concat(chunks.map((chunk) => chunk.pcm))).toEqual(
          Buffer.from(sound.subarray(0, whole * CHUNK_SAMPLES * 2)),
        );
        expect(chunker.heldBytes).toBe((total - whole * CHUNK_SAMPLES) * 2);
      }),
    );
  });

  it('stamps every chunk with the capture time of its own last sample', () => {
    fc.assert(
      fc.property(pieces, (sizes) => {
        const total = sizes.reduce((sum, size) => sum + size, 0);
        const { chunks } = pushAll(numbered(total * 2), sizes);
        for (const chunk of chunks) {
          expect(chunk.capturedAt).toBeCloseTo(capturedAt((chunk.seq + 1) * CHUNK_SAMPLES - 1), 9);
        }
      }),
    );
  });

  it('keeps a chunk unchanged when later pieces arrive', () => {
    const { chunks, chunker } = pushAll(numbered(20), [3, 7]);
    const before = Buffer.from(chunks[0]?.pcm ?? []);
    chunker.push(new Uint8Array(100).fill(255), 9999);
    expect(Buffer.from(chunks[0]?.pcm ?? [])).toEqual(before);
    expect(before).toHaveLength(CHUNK_SAMPLES * 2);
  });

  it('does not copy pieces that are already chunks', () => {
    const chunker = createChunker({ chunkSamples: 4, rateHz: RATE_HZ });
    const piece = numbered(16);
    expect(chunker.push(piece, 1).map((chunk) => chunk.pcm.buffer)).toEqual([piece.buffer, piece.buffer]);
  });

  it('follows the device when samples were lost between two pieces', () => {
    const chunker = createChunker({ chunkSamples: 8, rateHz: RATE_HZ });
    expect(chunker.push(numbered(8), 100)).toEqual([]);
    const [chunk] = chunker.push(numbered(12), 900);
    expect(chunk?.capturedAt).toBe(900 - (2 * 1000) / RATE_HZ);
  });

  it("gives the capture time of a chunk's first sample, whatever was lost after it", () => {
    const ofSamples = (samples: number): number => (samples * 1000) / RATE_HZ;
    const chunker = createChunker({ chunkSamples: 8, rateHz: RATE_HZ });
    chunker.push(numbered(8), 100);
    const chunks = chunker.push(numbered(24), 900);
    expect(chunks.map(({ beganAt }) => beganAt)).toEqual([100 - ofSamples(4), 900 - ofSamples(8)]);
    const [only] = pushAll(numbered(14), [3, 4]).chunks;
    expect(only?.beganAt).toBeCloseTo(START_MS, 9);
  });

  it('ends a chunk with silence when the device was silent for long', () => {
    const chunker = createChunker({ chunkSamples: 8, rateHz: RATE_HZ });
    expect(chunker.push(numbered(10), 100)).toEqual([]);
    const chunks = chunker.push(numbered(16), 60_000);
    const ofSamples = (samples: number): number => (samples * 1000) / RATE_HZ;
    expect(chunks.map(({ capturedAt }) => capturedAt)).toEqual([100 + ofSamples(3), 60_000]);
    expect([...(chunks[0]?.pcm ?? [])]).toEqual([...numbered(10), 0, 0, 0, 0, 0, 0]);
    expect(chunks.map(({ soundBytes }) => soundBytes)).toEqual([10, 16]);
    expect(chunks.map(({ beganAt }) => beganAt)).toEqual([100 - ofSamples(5), 60_000 - ofSamples(8)]);
    expect(chunks[1]?.pcm).toEqual(numbered(16));
    expect(chunker.heldBytes).toBe(0);
  });

  it('returns the remaining sound when the sound ends', () => {
    const chunker = createChunker({ chunkSamples: 8, rateHz: RATE_HZ });
    const ofSamples = (samples: number): number => (samples * 1000) / RATE_HZ;
    expect(chunker.flush()).toEqual([]);
    chunker.push(numbered(10), 100);
    const [chunk, ...more] = chunker.flush();
    expect(more).toEqual([]);
    expect([...(chunk?.pcm ?? [])]).toEqual([...numbered(10), 0, 0, 0, 0, 0, 0]);
    expect(chunk).toMatchObject({ seq: 0, beganAt: 100 - ofSamples(5), capturedAt: 100 + ofSamples(3) });
    expect(chunk?.soundBytes).toBe(10);
    expect(chunker.flush()).toEqual([]);
    expect(chunker.push(numbered(16), 200)).toMatchObject([{ seq: 1, capturedAt: 200, pcm: numbered(16) }]);
  });

  it('joins a sample that was split between two pieces', () => {
    const chunker = createChunker({ chunkSamples: 2, rateHz: RATE_HZ });
    const sound = numbered(8);
    const chunks = [...chunker.push(sound.slice(0, 3), 1), ...chunker.push(sound.slice(3), 2)];
    expect(Buffer.concat(chunks.map((chunk) => chunk.pcm))).toEqual(Buffer.from(sound));
  });

  it('continues the numbers of another chunker', () => {
    expect(pushAll(numbered(28), [14], 41).chunks.map((chunk) => chunk.seq)).toEqual([41, 42]);
  });

  it('refuses sizes and rates that make no sense', () => {
    expect(() => createChunker({ chunkSamples: 0, rateHz: 8000 })).toThrow(/at least one sample/);
    expect(() => createChunker({ chunkSamples: 2.5, rateHz: 8000 })).toThrow(RangeError);
    expect(() => createChunker({ chunkSamples: 10, rateHz: Number.NaN })).toThrow(/sample rate/);
  });
});
