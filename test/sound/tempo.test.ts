import { describe, expect, it } from 'vitest';
import { samplesOf } from '../../src/sound/pcm.ts';
import { quicken } from '../../src/sound/tempo.ts';

const RATE_HZ = 24_000;

function sine(hz: number, samples: number, from = 0): Uint8Array {
  const sound = Int16Array.from({ length: samples }, (_, i) =>
    Math.round(20_000 * Math.sin((2 * Math.PI * hz * (from + i)) / RATE_HZ)),
  );
  return new Uint8Array(sound.buffer);
}

function joined(pieces: readonly Uint8Array[]): Int16Array {
  return Int16Array.from(pieces.flatMap((piece) => [...samplesOf(piece)]));
}

/** Share of the power that remains without one tone: 0 for that tone alone. */
function impurity(sound: Int16Array, hz: number): number {
  let sines = 0;
  let cosines = 0;
  let power = 0;
  sound.forEach((sample, i) => {
    const angle = (2 * Math.PI * hz * i) / RATE_HZ;
    sines += sample * Math.sin(angle);
    cosines += sample * Math.cos(angle);
    power += sample * sample;
  });
  const tone = (2 * (sines * sines + cosines * cosines)) / sound.length;
  return 1 - tone / power;
}

describe('sound that plays faster', () => {
  it.each([
    { samples: 2400, share: 0.003, left: 2393 },
    { samples: 480, share: 0.003, left: 479 },
    { samples: 100, share: 0.003, left: 100 },
    { samples: 16, share: 0.1, left: 16 },
    { samples: 0, share: 0.003, left: 0 },
  ])('loses its share to the exact sample: $samples', ({ samples, share, left }) => {
    expect(quicken(sine(440, samples), share).byteLength).toBe(left * 2);
  });

  it('does not change the given piece', () => {
    const given = sine(440, 2400);
    quicken(given, 0.003);
    expect(given).toEqual(sine(440, 2400));
  });

  it('keeps its begin and end', () => {
    const given = samplesOf(sine(440, 2400));
    const quick = samplesOf(quicken(sine(440, 2400), 0.003));
    expect(quick.subarray(0, 16)).toEqual(given.subarray(0, 16));
    expect(quick.subarray(-16)).toEqual(given.subarray(-16));
  });

  it.each([200, 1000, 3000])('has no seams: a tone of %i Hz in pieces stays smooth', (hz) => {
    const pieces = Array.from({ length: 20 }, (_, i) => quicken(sine(hz, 2400, i * 2400), 0.003));
    const steps = (sound: Int16Array): number =>
      sound.reduce(
        (most, sample, i) => Math.max(most, i < 1 ? 0 : Math.abs(sample - (sound[i - 1] ?? 0))),
        0,
      );
    const steepest = 2 * 20_000 * Math.sin((Math.PI * hz * 1.003) / RATE_HZ);
    expect(steps(joined(pieces))).toBeLessThan(steepest * 1.02);
  });

  it.each([200, 1000, 3000])('stays the same tone, raised by its share: %i Hz', (hz) => {
    const inner = samplesOf(quicken(sine(hz, 24_000), 0.003)).subarray(16, -16);
    expect(impurity(inner, (hz * (24_000 - 32)) / (24_000 - 32 - 72))).toBeLessThan(1e-3);
    expect(impurity(inner, hz)).toBeGreaterThan(0.3);
  });

  it('does not overflow when the curve rises above its samples', () => {
    const square = Int16Array.from({ length: 2400 }, (_, i) => ((i >> 3) & 1 ? 32_767 : -32_768));
    const quick = samplesOf(quicken(new Uint8Array(square.buffer), 0.003));
    expect(Math.max(...quick)).toBe(32_767);
    expect(Math.min(...quick)).toBe(-32_768);
  });
});
