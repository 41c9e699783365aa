import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  correctSound,
  expectSound,
  NO_SOUNDINGS,
  type Soundings,
  silenceSound,
  stretchesOf,
  tellSound,
} from '../../../src/core/playout/soundings.ts';

/** What is heard, as pairs. */
function heard(soundings: Soundings): [number, number][] {
  const { heard: last, earlier } = stretchesOf(soundings);
  return [...earlier, ...(last === null ? [] : [last])].map(({ from, until }) => [from, until]);
}

/** A write of so long at that moment, told with the device's delay. */
function written(soundings: Soundings, now: number, durationMs: number, delayMs: number): Soundings {
  const { nextWrite: write, end } = soundings;
  const from = Math.max(now, end) + delayMs;
  return tellSound(expectSound(soundings, durationMs, now), { write, from, until: from + durationMs });
}

describe('when the loudspeaker is heard', () => {
  it('is expected at once from a device that tells nothing', () => {
    const soundings = expectSound(expectSound(NO_SOUNDINGS, 100, 1000), 50, 1010);
    expect(heard(soundings)).toEqual([[1000, 1150]]);
    expect(soundings.end).toBe(1150);
  });

  it('is what the device tells, and the pace of writing does not count its delay', () => {
    const soundings = written(NO_SOUNDINGS, 1000, 100, 300);
    expect(heard(soundings)).toEqual([[1300, 1400]]);
    expect(soundings).toMatchObject({ end: 1100, delayMs: 300, awaited: [] });
  });

  it('is expected with the delay that the device had before', () => {
    const soundings = expectSound(written(NO_SOUNDINGS, 1000, 100, 300), 100, 5000);
    expect(heard(soundings)).toEqual([
      [1300, 1400],
      [5300, 5400],
    ]);
  });

  it('moves with the first of several writes what is not told yet', () => {
    let soundings = NO_SOUNDINGS;
    for (let i = 0; i < 3; i++) soundings = expectSound(soundings, 100, 1000);
    soundings = tellSound(soundings, { write: 1, from: 1250, until: 1350 });
    expect(heard(soundings)).toEqual([[1250, 1550]]);
    expect(soundings.end).toBe(1300);
  });

  it('takes what was skipped as it was expected', () => {
    let soundings = NO_SOUNDINGS;
    for (let i = 0; i < 3; i++) soundings = expectSound(soundings, 100, 1000);
    soundings = tellSound(soundings, { write: 3, from: 1220, until: 1320 });
    expect(heard(soundings)).toEqual([[1000, 1320]]);
    expect(soundings).toMatchObject({ end: 1320, awaited: [] });
  });

  it('counts nothing that the device did not sound, and keeps the pace all the same', () => {
    const soundings = tellSound(expectSound(NO_SOUNDINGS, 100, 1000), { write: 1, from: 1000, until: 1000 });
    expect(heard(soundings)).toEqual([]);
    expect(soundings.end).toBe(1100);
  });

  it('is corrected, and the pace with it', () => {
    const late = correctSound(written(NO_SOUNDINGS, 1000, 100, 20), 1, 1160);
    expect(heard(late)).toEqual([[1020, 1160]]);
    expect(late.end).toBe(1140);
    const early = correctSound(late, 1, 1090);
    expect(heard(early)).toEqual([[1020, 1090]]);
    expect(early.end).toBe(1070);
  });

  it('corrects what was told before a newer write, and moves that one too', () => {
    const soundings = expectSound(written(NO_SOUNDINGS, 1000, 100, 0), 100, 1050);
    expect(heard(correctSound(soundings, 1, 1130))).toEqual([[1000, 1230]]);
  });

  it('does not believe the impossible', () => {
    const once = expectSound(NO_SOUNDINGS, 100, 1000);
    expect(heard(tellSound(once, { write: 1, from: 0, until: 100 }))).toEqual([[1000, 1100]]);
    expect(heard(tellSound(once, { write: 1, from: 9e9, until: 9e9 + 100 }))).toEqual([[6000, 6100]]);
    expect(tellSound(once, { write: 1, from: Number.NaN, until: 5 })).toBe(once);
    expect(tellSound(once, { write: 7, from: 1000, until: 1100 })).toBe(once);
    const told = written(NO_SOUNDINGS, 1000, 100, 0);
    expect(heard(correctSound(told, 1, -5))).toEqual([[1000, 1000]]);
    expect(heard(correctSound(told, 1, 9e9))).toEqual([[1000, 6100]]);
    expect(correctSound(told, 1, Number.POSITIVE_INFINITY)).toBe(told);
    expect(correctSound(told, 2, 1200)).toBe(told);
    expect(correctSound(NO_SOUNDINGS, 0, 1200)).toBe(NO_SOUNDINGS);
  });

  it('ends with a flush, and what the device tells of a flushed write is of no interest', () => {
    const flushed = silenceSound(expectSound(NO_SOUNDINGS, 500, 1000), 1200);
    expect(heard(flushed)).toEqual([[1000, 1200]]);
    expect(flushed.end).toBe(1200);
    expect(tellSound(flushed, { write: 1, from: 1000, until: 1500 })).toBe(flushed);
    expect(correctSound(flushed, 1, 1500)).toBe(flushed);
    const next = tellSound(expectSound(flushed, 100, 1210), { write: 2, from: 1210, until: 1310 });
    expect(tellSound(next, { write: 1, from: 1000, until: 1500 })).toBe(next);
  });

  it('leaves nothing of a sound that a flush caught before it was heard', () => {
    const flushed = silenceSound(written(written(NO_SOUNDINGS, 0, 100, 0), 1000, 100, 300), 1100);
    expect(heard(flushed)).toEqual([[0, 100]]);
  });

  it('remembers a bounded number of stretches and of untold writes', () => {
    let soundings = NO_SOUNDINGS;
    for (let i = 0; i < 100; i++) soundings = expectSound(soundings, 100, i * 1000);
    expect(heard(soundings)).toHaveLength(17);
    expect(heard(soundings).at(-1)).toEqual([99_000, 99_100]);
    expect(soundings.awaited.length).toBeLessThanOrEqual(16);
  });
});

describe('whatever the device does', () => {
  /** A device with a delay, a clock of its own and hiccups, that tells late or never. */
  const deed = fc.oneof(
    { weight: 5, arbitrary: fc.record({ write: fc.integer({ min: 1, max: 300 }) }) },
    { weight: 5, arbitrary: fc.record({ wait: fc.integer({ min: 0, max: 600 }) }) },
    { weight: 1, arbitrary: fc.record({ hiccup: fc.integer({ min: 0, max: 200 }) }) },
    { weight: 1, arbitrary: fc.constant({ flush: true as const }) },
  );

  it('what is known is what is heard, once all is told; and writing is paced by it', () => {
    fc.assert(
      fc.property(
        fc.array(deed, { maxLength: 60 }),
        fc.integer({ min: 0, max: 400 }),
        fc.boolean(),
        (deeds, delayMs, atOnce) => {
          let now = 1000;
          let soundings = NO_SOUNDINGS;
          let deviceFree = 0;
          const truth: [number, number][] = [];
          let flushedAt = 0;
          let untold: { write: number; from: number; until: number }[] = [];
          const tell = (): void => {
            for (const one of untold) soundings = tellSound(soundings, one);
            untold = [];
          };
          for (const what of deeds) {
            if ('wait' in what) now += what.wait;
            else if ('flush' in what) {
              tell();
              soundings = silenceSound(soundings, now);
              while (truth.length > 0 && (truth.at(-1)?.[0] ?? 0) > now) truth.pop();
              const last = truth.at(-1);
              if (last !== undefined) last[1] = Math.min(last[1], now);
              deviceFree = now;
              flushedAt = now;
            } else if ('hiccup' in what) {
              const last = truth.at(-1);
              if (last === undefined || deviceFree <= now) continue;
              tell();
              last[1] += what.hiccup;
              deviceFree = last[1];
              soundings = correctSound(soundings, soundings.nextWrite - 1, deviceFree);
            } else {
              const from = Math.max(now + delayMs, deviceFree);
              deviceFree = from + what.write;
              truth.push([from, deviceFree]);
              untold.push({ write: soundings.nextWrite, from, until: deviceFree });
              soundings = expectSound(soundings, what.write, now);
              if (atOnce) tell();
            }
          }
          tell();
          const told = heard(soundings);
          // Every true sound lies in a stretch, and no stretch reaches beyond true sound and its small gaps.
          for (const [from, until] of truth.slice(-8)) {
            const inside = told.some(([a, b]) => a <= from + 1e-6 && b >= until - 1e-6);
            expect(inside, `${from}-${until} in ${JSON.stringify(told)}`).toBe(true);
          }
          // A flush in a gap within a stretch may count that gap.
          const end = told.at(-1)?.[1] ?? 0;
          const trueEnd = truth.at(-1)?.[1] ?? 0;
          expect(end).toBeGreaterThan(trueEnd - 1e-6);
          expect(end).toBeLessThan(Math.max(trueEnd, Math.min(flushedAt, trueEnd + 300)) + 1e-6);
          for (const [i, [from]] of told.entries()) expect(from).toBeGreaterThan(told[i - 1]?.[1] ?? 0);
        },
      ),
      { numRuns: 300 },
    );
  });
});
