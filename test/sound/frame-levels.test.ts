import { describe, expect, it } from 'vitest';
import { measureFrames } from '../../src/sound/frame-levels.ts';
import { SILENCE_DBFS } from '../../src/sound/pcm.ts';

const RATE_HZ = 8000;
const FRAME_SAMPLES = 160;

/** Square waves, one level for each stretch of this many samples. */
function square(
  ...stretches: readonly { readonly samples: number; readonly amplitude: number }[]
): Uint8Array {
  const samples = stretches.flatMap((stretch) =>
    Array.from({ length: stretch.samples }, (_, i) => (i % 2 === 0 ? stretch.amplitude : -stretch.amplitude)),
  );
  return new Uint8Array(Int16Array.from(samples).buffer);
}

const loud = { samples: FRAME_SAMPLES, amplitude: 16_384 };
const soft = { samples: FRAME_SAMPLES, amplitude: 328 };
const none = { samples: FRAME_SAMPLES, amplitude: 0 };

describe('the levels of the frames in a chunk', () => {
  it('are those of its loudest and its quietest 20 ms', () => {
    const levels = measureFrames(square(soft, loud, soft, soft), RATE_HZ);
    expect(levels.loudestDb).toBeCloseTo(-6.02, 1);
    expect(levels.quietestDb).toBeCloseTo(-40, 1);
  });

  it('find the quiet frame at any position', () => {
    for (const chunk of [square(none, loud, loud), square(loud, none, loud), square(loud, loud, none)]) {
      const levels = measureFrames(chunk, RATE_HZ);
      expect(levels.quietestDb).toBe(SILENCE_DBFS);
      expect(levels.loudestDb).toBeCloseTo(-6.02, 1);
    }
  });

  it('count a last, shorter frame too', () => {
    const levels = measureFrames(square(soft, { samples: 3, amplitude: 16_384 }), RATE_HZ);
    expect(levels.loudestDb).toBeCloseTo(-6.02, 1);
  });

  it('are measured over 20 ms at any rate', () => {
    // 10 ms loud, 10 ms silent: one frame with half the power, 3 dB less.
    for (const rateHz of [8000, 16_000, 24_000, 44_100, 48_000]) {
      const half = Math.round(rateHz / 100);
      const levels = measureFrames(
        square({ samples: half, amplitude: 16_384 }, { samples: half, amplitude: 0 }),
        rateHz,
      );
      expect(levels.loudestDb).toBeCloseTo(-9.03, 1);
    }
  });

  it('are silence for an empty chunk', () => {
    expect(measureFrames(new Uint8Array(0), RATE_HZ)).toEqual({
      loudestDb: SILENCE_DBFS,
      quietestDb: SILENCE_DBFS,
    });
  });

  it('do not depend on where the bytes lie in their buffer', () => {
    const chunk = square(soft, loud);
    const shifted = new Uint8Array(chunk.byteLength + 1);
    shifted.set(chunk, 1);
    expect(measureFrames(shifted.subarray(1), RATE_HZ)).toEqual(measureFrames(chunk, RATE_HZ));
  });
});
