import { BYTES_PER_SAMPLE, durationMs } from './pcm.ts';

/** One unit of captured sound for the service; all chunks have the same number of samples. */
export interface Chunk {
  /** Counts up by one, without gaps, from the first chunk. */
  readonly seq: number;
  /** Capture time of its first sample: earlier than its length suggests if sound was missing in between. */
  readonly beganAt: number;
  /** When the last sample was captured, in monotonic milliseconds. */
  readonly capturedAt: number;
  readonly pcm: Uint8Array;
  /** Bytes that were captured; the rest is silence as padding. */
  readonly soundBytes: number;
}

export interface ChunkerOptions {
  readonly chunkSamples: number;
  readonly rateHz: number;
  /** The number of the first chunk. */
  readonly firstSeq?: number;
}

/** Cuts pieces of any size, as devices deliver them, into chunks of one size. */
export interface Chunker {
  /**
   * @param pcm the next piece of mono PCM; chunks may be views into it, so it must not change afterwards
   * @param capturedAt when its last sample was captured
   * @returns the chunks that are now complete, oldest first
   */
  push(pcm: Uint8Array, capturedAt: number): Chunk[];
  /** Ends the sound here. @returns the incomplete chunk, padded with silence */
  flush(): Chunk[];
  /** Bytes in the incomplete chunk. */
  readonly heldBytes: number;
}

/** Longest gap (ms) after which sound still continues the same chunk. */
const LONGEST_GAP_MS = 1000;

/**
 * Makes a chunker. It calculates each chunk's time back from the end of the piece that completed it. So a clock that is
 * off by some ppm, or samples lost between two pieces, cannot make the times drift. At a long gap (device hung or gone), the
 * incomplete chunk is padded with silence.
 */
export function createChunker({ chunkSamples, rateHz, firstSeq = 0 }: ChunkerOptions): Chunker {
  if (!Number.isSafeInteger(chunkSamples) || chunkSamples < 1) {
    throw new RangeError(`a chunk must have at least one sample, not ${chunkSamples}`);
  }
  if (!(rateHz > 0)) throw new RangeError(`a sample rate must be above 0, not ${rateHz}`);
  const chunkBytes = chunkSamples * BYTES_PER_SAMPLE;
  let partial = new Uint8Array(chunkBytes);
  let held = 0;
  let seq = firstSeq;
  let beganAt = 0;
  let endedAt = Number.NEGATIVE_INFINITY;

  const complete = (pcm: Uint8Array, began: number, capturedAt: number, soundBytes = chunkBytes): Chunk => {
    return { seq: seq++, beganAt: Math.min(began, capturedAt), capturedAt, pcm, soundBytes };
  };

  const flush = (): Chunk[] => {
    if (held === 0) return [];
    const missingMs = durationMs(chunkBytes - held, rateHz);
    partial.fill(0, held);
    const chunk = complete(partial, beganAt, endedAt + missingMs, held);
    partial = new Uint8Array(chunkBytes);
    held = 0;
    return [chunk];
  };

  return {
    push(pcm, capturedAt) {
      const startsAt = capturedAt - durationMs(pcm.byteLength, rateHz);
      // Sound from before a gap gets a chunk of its own: it must not count as heard after the gap.
      const chunks = startsAt - endedAt > LONGEST_GAP_MS ? flush() : [];
      if (held === 0) beganAt = startsAt;
      endedAt = capturedAt;
      let taken = 0;
      while (held + pcm.byteLength - taken >= chunkBytes) {
        const needed = chunkBytes - held;
        const part = pcm.subarray(taken, taken + needed);
        taken += needed;
        const cutAt = capturedAt - durationMs(pcm.byteLength - taken, rateHz);
        if (held === 0) chunks.push(complete(part, beganAt, cutAt));
        else {
          partial.set(part, held);
          chunks.push(complete(partial, beganAt, cutAt));
          partial = new Uint8Array(chunkBytes);
          held = 0;
        }
        beganAt = cutAt;
      }
      partial.set(pcm.subarray(taken), held);
      held += pcm.byteLength - taken;
      return chunks;
    },
    flush,
    get heldBytes() {
      return held;
    },
  };
}
