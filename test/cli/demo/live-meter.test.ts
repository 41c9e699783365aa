import { describe, expect, it } from 'vitest';
import { follow, isMoving, type Meter, SILENT_METER } from '../../../src/cli/demo/live-meter.ts';

const FRAME_MS = 80;

/** The frames of the meter while the measured level is `db`. */
function watch(meter: Meter, db: number, ms: number): Meter[] {
  const seen: Meter[] = [];
  let current = meter;
  for (let now = meter.at + FRAME_MS; now <= meter.at + ms; now += FRAME_MS) {
    current = follow(current, db, now);
    seen.push(current);
  }
  return seen;
}

const loud = follow(SILENT_METER, -10, 1000);

describe('meter', () => {
  it('rises at once', () => {
    expect(loud).toMatchObject({ levelDb: -10, peakDb: -10, readoutDb: -10 });
  });

  it('falls smoothly at a limited rate, and never below the measured level', () => {
    let before = loud;
    for (const meter of watch(loud, -30, 2000)) {
      const step = before.levelDb - meter.levelDb;
      expect(step).toBeGreaterThanOrEqual(0);
      expect(step).toBeLessThan(3);
      expect(meter.levelDb).toBeGreaterThanOrEqual(-30);
      before = meter;
    }
    expect(before.levelDb).toBe(-30);
  });

  it('holds the peak for a while, then lowers it', () => {
    expect(watch(loud, -90, 1400).at(-1)?.peakDb).toBe(-10);
    const later = watch(loud, -90, 2500).at(-1);
    expect(later?.peakDb).toBeLessThan(-10);
    expect(later?.peakDb).toBeGreaterThan(later?.levelDb ?? 0);
  });

  it('changes its number at most twice a second on the way down, and at once on the way up', () => {
    const numbers = watch(loud, -90, 4000).map(({ readoutDb }) => readoutDb);
    const changes = numbers.filter((value, index) => index > 0 && value !== numbers[index - 1]);
    expect(changes.length).toBeGreaterThan(2);
    expect(changes.length).toBeLessThanOrEqual(6);
    expect(follow(loud, -4, 1010).readoutDb).toBe(-4);
  });

  it('stops moving at a constant level', () => {
    expect(isMoving(SILENT_METER, -96)).toBe(false);
    expect(isMoving(loud, -10)).toBe(false);
    expect(isMoving(loud, -96)).toBe(true);
    const rest = watch(loud, -96, 8000).at(-1);
    expect(rest).toMatchObject({ levelDb: -96, peakDb: -96, readoutDb: -96 });
    expect(isMoving(rest ?? loud, -96)).toBe(false);
  });
});
