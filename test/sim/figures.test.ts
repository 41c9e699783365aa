import { describe, expect, it } from 'vitest';
import { runDay } from './day.ts';
import { createDice } from './dice.ts';
import { testMinuteSessions } from './figures-tests.ts';
import { createPainter, isStump, paintRendering, readRenderings, readTicks } from './sound.ts';

describe('simulated sound', () => {
  it('contains the numbers of its ticks', () => {
    const piece = createPainter(60).paint(123_456, ['room', 'speech', 'echo', 'speech'], [0, 1, 0, 1]);
    const ticks: number[] = [];
    const { echoes } = readTicks(
      new Int16Array(piece.buffer, piece.byteOffset, piece.byteLength / 2),
      (tick) => ticks.push(tick),
    );
    expect(ticks).toEqual([123_457, 123_459]);
    expect(echoes).toBe(1);
  });

  it('counts as a stump when the microphone was unplugged within 100 ms', () => {
    const piece = (ticks: number): Uint8Array => {
      const pcm = new Uint8Array(10 * 640);
      pcm.set(createPainter(60).paint(1, Array(ticks).fill('speech'), Array(ticks).fill(1)));
      return pcm;
    };
    expect([4, 5, 6, 10].map((ticks) => isStump(piece(ticks)))).toEqual([true, true, false, false]);
    expect(isStump(createPainter(60).paint(1, Array(10).fill('room'), []))).toBe(false);
  });

  it('identifies a rendering at any of its ticks', () => {
    const pcm = paintRendering(4321, 400);
    expect(readRenderings(pcm.subarray(960 * 7))).toEqual([{ job: 4321, place: 7, ticks: 13 }]);
    const two = Buffer.concat([pcm.subarray(960 * 18), paintRendering(4322, 60)]);
    expect(readRenderings(two)).toEqual([
      { job: 4321, place: 18, ticks: 2 },
      { job: 4322, place: 0, ticks: 3 },
    ]);
    expect(readRenderings(new Uint8Array(960))).toEqual([]);
  });
});

describe('dice', () => {
  it('repeat their draws for the same seed, and draw evenly', () => {
    const draws = Array.from({ length: 2000 }, createDice(7).next);
    expect(Array.from({ length: 2000 }, createDice(7).next)).toEqual(draws);
    expect(draws.reduce((sum, value) => sum + value, 0) / 2000).toBeCloseTo(0.5, 1);
    expect(createDice(8).next()).not.toBe(draws[0]);
  });
});

describe('days without faults', () => {
  it('bill a part of an hour at a museum desk, and every visitor is heard', async () => {
    const day = await runDay(1, { hours: 0.5 });
    expect(day.violations).toBe(0);
    // The rest was spoken while the loudspeaker played (half-duplex).
    expect(day.said_share).toBeGreaterThan(0.55);
    expect(day.said_share + day.gated_share).toBeGreaterThan(0.99);
    expect(day.billed_s).toBeLessThan(day.naive_billed_s / 4);
  });

  testMinuteSessions(0.1, 5);
});
