import { describe, expect, it } from 'vitest';
import {
  correctHeard,
  EMPTY_TIMELINE,
  expectWrite,
  type PlayoutTimeline,
  recordHeard,
  silenceTimeline,
  stretchesOf,
} from '../../../src/device/playout/timeline.ts';
import { fc } from '../../properties.ts';

/** Heard stretches as pairs. */
function heard(timeline: PlayoutTimeline): [number, number][] {
  const { heard: last, earlier } = stretchesOf(timeline);
  return [...earlier, ...(last === null ? [] : [last])].map(({ from, until }) => [from, until]);
}

/** A write of this length at that time, reported with the device's delay. */
function written(
  timeline: PlayoutTimeline,
  now: number,
  durationMs: number,
  delayMs: number,
): PlayoutTimeline {
  const { nextWrite: write, end } = timeline;
  const from = Math.max(now, end) + delayMs;
  return recordHeard(expectWrite(timeline, durationMs, now), { write, from, until: from + durationMs });
}

describe('the time at which the loudspeaker is heard', () => {
  it('is expected at once from a device without reports', () => {
    const timeline = expectWrite(expectWrite(EMPTY_TIMELINE, 100, 1000), 50, 1010);
    expect(heard(timeline)).toEqual([[1000, 1150]]);
    expect(timeline.end).toBe(1150);
  });

  it('is the one that the device reports, and its delay does not slow the writing', () => {
    const timeline = written(EMPTY_TIMELINE, 1000, 100, 300);
    expect(heard(timeline)).toEqual([[1300, 1400]]);
    expect(timeline).toMatchObject({ end: 1100, delayMs: 300, awaited: [] });
  });

  it("is expected with the device's previous delay", () => {
    const timeline = expectWrite(written(EMPTY_TIMELINE, 1000, 100, 300), 100, 5000);
    expect(heard(timeline)).toEqual([
      [1300, 1400],
      [5300, 5400],
    ]);
  });

  it('moves for unreported writes with the first report of several', () => {
    let timeline = EMPTY_TIMELINE;
    for (let i = 0; i < 3; i++) timeline = expectWrite(timeline, 100, 1000);
    timeline = recordHeard(timeline, { write: 1, from: 1250, until: 1350 });
    expect(heard(timeline)).toEqual([[1250, 1550]]);
    expect(timeline.end).toBe(1300);
  });

  it('is taken as expected for skipped writes', () => {
    let timeline = EMPTY_TIMELINE;
    for (let i = 0; i < 3; i++) timeline = expectWrite(timeline, 100, 1000);
    timeline = recordHeard(timeline, { write: 3, from: 1220, until: 1320 });
    expect(heard(timeline)).toEqual([[1000, 1320]]);
    expect(timeline).toMatchObject({ end: 1320, awaited: [] });
  });

  it('excludes sound that the device did not play, and keeps the pace', () => {
    const timeline = recordHeard(expectWrite(EMPTY_TIMELINE, 100, 1000), {
      write: 1,
      from: 1000,
      until: 1000,
    });
    expect(heard(timeline)).toEqual([]);
    expect(timeline.end).toBe(1100);
  });

  it('is corrected, and the pace with it', () => {
    const late = correctHeard(written(EMPTY_TIMELINE, 1000, 100, 20), 1, 1160);
    expect(heard(late)).toEqual([[1020, 1160]]);
    expect(late.end).toBe(1140);
    const early = correctHeard(late, 1, 1090);
    expect(heard(early)).toEqual([[1020, 1090]]);
    expect(early.end).toBe(1070);
  });

  it('is corrected for a report before a newer write, which moves too', () => {
    const timeline = expectWrite(written(EMPTY_TIMELINE, 1000, 100, 0), 100, 1050);
    expect(heard(correctHeard(timeline, 1, 1130))).toEqual([[1000, 1230]]);
  });

  it('ignores impossible reports', () => {
    const once = expectWrite(EMPTY_TIMELINE, 100, 1000);
    expect(heard(recordHeard(once, { write: 1, from: 0, until: 100 }))).toEqual([[1000, 1100]]);
    expect(heard(recordHeard(once, { write: 1, from: 9e9, until: 9e9 + 100 }))).toEqual([[6000, 6100]]);
    expect(recordHeard(once, { write: 1, from: Number.NaN, until: 5 })).toBe(once);
    expect(recordHeard(once, { write: 7, from: 1000, until: 1100 })).toBe(once);
    const reported = written(EMPTY_TIMELINE, 1000, 100, 0);
    expect(heard(correctHeard(reported, 1, -5))).toEqual([[1000, 1000]]);
    expect(heard(correctHeard(reported, 1, 9e9))).toEqual([[1000, 6100]]);
    expect(correctHeard(reported, 1, Number.POSITIVE_INFINITY)).toBe(reported);
    expect(correctHeard(reported, 2, 1200)).toBe(reported);
    expect(correctHeard(EMPTY_TIMELINE, 0, 1200)).toBe(EMPTY_TIMELINE);
  });

  it('ends with a flush, and later reports of a flushed write are ignored', () => {
    const flushed = silenceTimeline(expectWrite(EMPTY_TIMELINE, 500, 1000), 1200);
    expect(heard(flushed)).toEqual([[1000, 1200]]);
    expect(flushed.end).toBe(1200);
    expect(recordHeard(flushed, { write: 1, from: 1000, until: 1500 })).toBe(flushed);
    expect(correctHeard(flushed, 1, 1500)).toBe(flushed);
    const next = recordHeard(expectWrite(flushed, 100, 1210), { write: 2, from: 1210, until: 1310 });
    expect(recordHeard(next, { write: 1, from: 1000, until: 1500 })).toBe(next);
  });

  it('excludes sound that a flush removed before it was heard', () => {
    const flushed = silenceTimeline(written(written(EMPTY_TIMELINE, 0, 100, 0), 1000, 100, 300), 1100);
    expect(heard(flushed)).toEqual([[0, 100]]);
  });

  it('keeps a limited number of stretches and of unreported writes', () => {
    let timeline = EMPTY_TIMELINE;
    for (let i = 0; i < 100; i++) timeline = expectWrite(timeline, 100, i * 1000);
    expect(heard(timeline)).toHaveLength(17);
    expect(heard(timeline).at(-1)).toEqual([99_000, 99_100]);
    expect(timeline.awaited.length).toBeLessThanOrEqual(16);
  });
});

describe('with any device', () => {
  /** A device with a delay, a clock of its own and hiccups, that reports late or never. */
  const deed = fc.oneof(
    { weight: 5, arbitrary: fc.record({ write: fc.integer({ min: 1, max: 300 }) }) },
    { weight: 5, arbitrary: fc.record({ wait: fc.integer({ min: 0, max: 600 }) }) },
    { weight: 1, arbitrary: fc.record({ hiccup: fc.integer({ min: 0, max: 200 }) }) },
    { weight: 1, arbitrary: fc.constant({ flush: true as const }) },
  );

  it('the known time is the heard time after all reports, and it paces the writing', () => {
    fc.assert(
      fc.property(
        fc.array(deed, { maxLength: 60 }),
        fc.integer({ min: 0, max: 400 }),
        fc.boolean(),
        (deeds, delayMs, atOnce) => {
          let now = 1000;
          let timeline = EMPTY_TIMELINE;
          let deviceFree = 0;
          const truth: [number, number][] = [];
          let flushedAt = 0;
          let untold: { write: number; from: number; until: number }[] = [];
          const tell = (): void => {
            for (const one of untold) timeline = recordHeard(timeline, one);
            untold = [];
          };
          for (const what of deeds) {
            if ('wait' in what) now += what.wait;
            else if ('flush' in what) {
              tell();
              timeline = silenceTimeline(timeline, now);
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
              timeline = correctHeard(timeline, timeline.nextWrite - 1, deviceFree);
            } else {
              const from = Math.max(now + delayMs, deviceFree);
              deviceFree = from + what.write;
              truth.push([from, deviceFree]);
              untold.push({ write: timeline.nextWrite, from, until: deviceFree });
              timeline = expectWrite(timeline, what.write, now);
              if (atOnce) tell();
            }
          }
          tell();
          const reported = heard(timeline);
          // Every true sound lies in a stretch, and no stretch reaches beyond true sound and its small gaps.
          for (const [from, until] of truth.slice(-8)) {
            const inside = reported.some(([a, b]) => a <= from + 1e-6 && b >= until - 1e-6);
            expect(inside, `${from}-${until} in ${JSON.stringify(reported)}`).toBe(true);
          }
          // A flush in a gap within a stretch may count that gap.
          const end = reported.at(-1)?.[1] ?? 0;
          const trueEnd = truth.at(-1)?.[1] ?? 0;
          expect(end).toBeGreaterThan(trueEnd - 1e-6);
          expect(end).toBeLessThan(Math.max(trueEnd, Math.min(flushedAt, trueEnd + 300)) + 1e-6);
          for (const [i, [from]] of reported.entries())
            expect(from).toBeGreaterThan(reported[i - 1]?.[1] ?? 0);
        },
      ),
      { numRuns: 300 },
    );
  });
});
