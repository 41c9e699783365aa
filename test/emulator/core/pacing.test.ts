import { describe, expect, test } from 'vitest';
import { createPacingMeter } from '../../../src/emulator/core/pacing.ts';
import { fc } from '../../properties.ts';

const CHUNK_MS = 320;

/** Measures chunks that arrive at the given times. */
function arrive(times: readonly number[], chunkMs = CHUNK_MS) {
  const meter = createPacingMeter();
  for (const at of times) meter.frame(chunkMs, at);
  return meter.report;
}

const onTime = (chunks: number, stepMs = CHUNK_MS, from = 0) =>
  Array.from({ length: chunks }, (_, index) => from + index * stepMs);

describe('a client in real time causes no violation', () => {
  test('with regular chunks for an hour', () => {
    const report = arrive(onTime(11_250));
    expect(report).toMatchObject({ violations: 0, too_fast: 0, too_slow: 0, stalled: 0 });
  });

  test.each([1.001, 0.999])('with a clock that runs at %f for an hour', (rate) => {
    expect(arrive(onTime(11_250, CHUNK_MS * rate))).toMatchObject({ violations: 0, too_slow: 0, stalled: 0 });
  });

  test('with any jitter of up to two chunks', () => {
    const jitter = fc.array(fc.integer({ min: 0, max: 640 }), { minLength: 50, maxLength: 400 });
    const drift = fc.double({ min: 0.999, max: 1.001, noNaN: true });
    fc.assert(
      fc.property(jitter, drift, (lateMs, rate) => {
        let last = 0;
        // TCP keeps the sequence: a late chunk delays the chunks after it.
        const times = lateMs.map((late, index) => {
          last = Math.max(last, index * CHUNK_MS * rate + late);
          return last;
        });
        expect(arrive(times).violations).toBe(0);
      }),
      { numRuns: 300 },
    );
  });

  test('with short and long chunks', () => {
    expect(arrive(onTime(3000, 20), 20).violations).toBe(0);
    expect(arrive(onTime(100, 2000), 2000).violations).toBe(0);
  });
});

describe('a client that is too fast', () => {
  test('causes a violation when it is more than two chunks ahead', () => {
    expect(arrive([0, 0, 0]).violations).toBe(0);
    expect(arrive([0, 0, 0, 0]).violations).toBe(1);
    expect(arrive(Array(13).fill(0)).violations).toBe(10);
  });

  test('causes violations when it sends a backlog at once after an outage', () => {
    const times = [...onTime(20), ...Array(10).fill(20 * CHUNK_MS + 3000)];
    expect(arrive(times).violations).toBe(7);
  });

  test('causes no violation long after a burst, even with jitter', () => {
    const burst = Array(6).fill(0);
    const after = onTime(2000, CHUNK_MS, CHUNK_MS).map((at, index) => at + (index % 7 === 0 ? 60 : 0));
    expect(arrive([...burst, ...after]).violations).toBeLessThanOrEqual(6);
    const late = arrive([...burst, ...after, ...onTime(500, CHUNK_MS, 2002 * CHUNK_MS)]);
    expect(late.violations).toBeLessThanOrEqual(6);
  });

  test.each([1.02, 1.05, 1.2, 2])('causes violations with a recording at %f times real time', (speed) => {
    expect(arrive(onTime(1000, CHUNK_MS / speed)).violations).toBeGreaterThan(0);
  });

  test('gets its lead measured', () => {
    expect(arrive([0, 0, 0, 0, 0]).worst_lead_ms).toBe(4 * CHUNK_MS);
  });
});

describe('a client that is too slow', () => {
  test('gets a warning and causes no violation', () => {
    const report = arrive(onTime(200, CHUNK_MS * 1.2));
    expect(report.violations).toBe(0);
    expect(report.too_slow).toBeGreaterThan(2);
  });

  test('has each stall reported once', () => {
    const report = arrive([...onTime(10), ...onTime(10, CHUNK_MS, 10 * CHUNK_MS + 5000)]);
    expect(report).toMatchObject({ violations: 0, stalled: 1, too_slow: 0, longest_gap_ms: 5320 });
  });
});

describe('a pacing meter', () => {
  test('excuses audio that piled up while the service did not listen', () => {
    const meter = createPacingMeter();
    for (const at of onTime(10)) meter.frame(CHUNK_MS, at);
    meter.excuse(2000);
    for (let piled = 0; piled < 6; piled++) meter.frame(CHUNK_MS, 9 * CHUNK_MS + 2000);
    expect(meter.report.violations).toBe(0);
    for (let more = 0; more < 8; more++) meter.frame(CHUNK_MS, 9 * CHUNK_MS + 2000);
    expect(meter.report.violations).toBeGreaterThan(0);
  });

  test('transcribes one part of sound at a multiple of real time', () => {
    const shareOf = (speed: number): number => {
      const meter = createPacingMeter();
      const verdicts = onTime(800, CHUNK_MS / speed).map((at) => meter.frame(CHUNK_MS, at));
      return verdicts.filter(({ overrun }) => !overrun).length / verdicts.length;
    };
    expect(shareOf(1)).toBe(1);
    expect(shareOf(1.04)).toBe(1);
    expect(shareOf(2)).toBeCloseTo(0.53, 1);
    expect(shareOf(4)).toBeCloseTo(0.27, 1);
  });

  test('transcribes sound that the network held up for some seconds and delivers at once', () => {
    const meter = createPacingMeter();
    for (const at of onTime(10)) meter.frame(CHUNK_MS, at);
    const heap = Array.from({ length: 25 }, () => meter.frame(CHUNK_MS, 9 * CHUNK_MS + 8000));
    expect(heap.every(({ overrun }) => !overrun)).toBe(true);
    const more = Array.from({ length: 10 }, () => meter.frame(CHUNK_MS, 9 * CHUNK_MS + 8000));
    expect(more.filter(({ overrun }) => overrun).length).toBeGreaterThan(5);
  });

  test('never overruns without a violation', () => {
    const gaps = fc.array(fc.integer({ min: 0, max: 900 }), { minLength: 20, maxLength: 300 });
    fc.assert(
      fc.property(gaps, (list) => {
        const meter = createPacingMeter();
        let at = 0;
        return list.every((gap) => {
          at += gap;
          const { pace, overrun } = meter.frame(CHUNK_MS, at);
          return !overrun || pace === 'too_fast';
        });
      }),
    );
  });

  test('starts anew after a pause of the task', () => {
    const meter = createPacingMeter();
    meter.frame(CHUNK_MS, 0);
    meter.restart();
    meter.frame(CHUNK_MS, 60_000);
    expect(meter.report).toMatchObject({ stalled: 0, too_slow: 0, longest_gap_ms: 0 });
  });
});
