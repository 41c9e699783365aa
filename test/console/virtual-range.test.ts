import { describe, expect, it } from 'vitest';
import { rangeOf, type Window, windowFor } from '../../src/page/console/parts/virtual-range.ts';

const TOTAL = 10_000;
const ROW_PX = 40;
const HEIGHT = 600;

describe('the window of rows', () => {
  it('arrives before its rows are visible when a person scrolls 40 rows a second and an answer takes a second', () => {
    let asked: Window = { first: 0, last: 100 };
    let there = asked;
    let requests = 0;
    const answers: { at: number; window: Window }[] = [];
    for (let ms = 0; ms < 60_000; ms += 16) {
      const scrolled = (ms / 1000) * 40 * ROW_PX;
      for (const answer of answers.filter(({ at }) => at <= ms)) there = answer.window;
      const next = windowFor(rangeOf(scrolled, HEIGHT, ROW_PX, TOTAL), asked, TOTAL);
      if (next !== null) {
        asked = next;
        requests += 1;
        answers.push({ at: ms + 1000, window: next });
      }
      expect(there.first).toBeLessThanOrEqual(scrolled / ROW_PX);
      expect(there.last).toBeGreaterThanOrEqual((scrolled + HEIGHT) / ROW_PX);
    }
    expect(requests).toBeLessThan(60);
  });

  it('is not asked for again at the ends of the list, or while its answer is on the way', () => {
    const last = { first: 9900, last: 10_200 };
    expect(windowFor({ from: 9970, to: 10_000 }, last, TOTAL)).toBeNull();
    expect(windowFor({ from: 0, to: 30 }, { first: 0, last: 100 }, TOTAL)).toBeNull();
    expect(windowFor({ from: 0, to: 30 }, { first: 0, last: 100 }, 12)).toBeNull();
    const asked = windowFor({ from: 5000, to: 5030 }, { first: 0, last: 100 }, TOTAL);
    expect(asked).toEqual({ first: 4900, last: 5130 });
    expect(windowFor({ from: 5008, to: 5038 }, asked ?? last, TOTAL)).toBeNull();
    expect(windowFor({ from: 4944, to: 4974 }, asked ?? last, TOTAL)).toEqual({ first: 4844, last: 5074 });
  });
});
