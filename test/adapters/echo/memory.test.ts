import { describe, expect, it } from 'vitest';
import { type EchoFilter, loadEchoFilter } from '../../../src/adapters/echo/echo-filter.ts';
import { toPcm } from '../../../src/core/audio/pcm.ts';
import { talk, through, together, VOICE_RATE_HZ } from '../../acoustics.ts';

const SECONDS = 20;
const PIECE_MS = 80;
const PIECE_BYTES = (PIECE_MS * VOICE_RATE_HZ * 2) / 1000;

interface Memory {
  readonly buffer: ArrayBuffer;
}
/** What the compiler's library for Node does not know. */
const { WebAssembly: assembly } = globalThis as unknown as {
  WebAssembly: { Memory: new (descriptor: object) => Memory };
};

/** Does something, and gives the memories that were made meanwhile. */
async function memoriesOf(act: () => Promise<void>): Promise<Memory[]> {
  const made: Memory[] = [];
  const { Memory } = assembly;
  assembly.Memory = class extends Memory {
    constructor(descriptor: object) {
      super(descriptor);
      made.push(this);
    }
  };
  try {
    await act();
  } finally {
    assembly.Memory = Memory;
  }
  return made;
}

/** How far memory has ever been used: what was freed is not made zero again. */
function usedBytes(memory: Memory): number {
  const bytes = new Uint8Array(memory.buffer);
  return bytes.findLastIndex((byte) => byte !== 0) + 1;
}

describe('the memory of an echo filter', () => {
  it('is as large after minutes of sentences, pauses and flushes as after the first', async () => {
    const { people, said, room } = await talk(SECONDS, -65);
    const played = toPcm(said);
    const heard = toPcm(together(through({ delayMs: 120, gainDb: -12, rt60S: 0.4 }, said), people, room));
    const filters: EchoFilter[] = [];
    const [memory] = await memoriesOf(async () => {
      filters.push(await loadEchoFilter({ heardRateHz: VOICE_RATE_HZ, playedRateHz: VOICE_RATE_HZ }));
    });
    const [filter] = filters;
    if (filter === undefined || memory === undefined) throw new Error('it has no memory of its own');
    let rests = 0;
    /** The loudspeaker speaks for 8 s of 12. */
    const run = (fromMs: number, untilMs: number): void => {
      for (let ms = fromMs; ms < untilMs; ms += PIECE_MS) {
        const at = ((ms / PIECE_MS) * PIECE_BYTES) % heard.byteLength;
        if (ms % 12_000 < 8000) filter.played(played.subarray(at, at + PIECE_BYTES), ms + 100, true);
        if (ms % 36_000 === 4000) filter.flushed(ms + 20);
        filter.filter(heard.subarray(at, at + PIECE_BYTES), ms + PIECE_MS);
        if (filter.rests) rests += 1;
      }
    };
    run(0, 60_000);
    const [size, used] = [memory.buffer.byteLength, usedBytes(memory)];
    run(60_000, 240_000);
    filter.close();
    expect(rests).toBeGreaterThan(0);
    expect(used).toBeGreaterThan(100_000);
    expect(memory.buffer.byteLength).toBe(size);
    // A leak of one frame of sound in a thousand would be more.
    expect(usedBytes(memory) - used).toBeLessThan(16_384);
  });
});
