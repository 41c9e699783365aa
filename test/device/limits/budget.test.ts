import { describe, expect, it } from 'vitest';
import {
  addKept,
  budgetUse,
  countUse,
  daysToKeep,
  isWorthTelling,
  leftMs,
  msToNews,
  noteTold,
} from '../../../src/device/limits/budget.ts';
import { DAY_MS } from '../../../src/device/limits/local-time.ts';

const MIN = 60_000;
const MON = '2026-05-04';
const TUE = '2026-05-05';

describe('the budget of a day', () => {
  it('is counted for each day from zero', () => {
    let use = countUse(budgetUse([], 0), MON, 0, 0);
    use = countUse(use, MON, MIN, MIN);
    use = countUse(use, MON, 2 * MIN, MIN);
    expect(leftMs(use, 10)).toBe(8 * MIN);
    expect(leftMs(use, 1)).toBe(0);
    expect(leftMs(use, null)).toBeNull();
    use = countUse(use, TUE, 3 * MIN, MIN);
    expect(leftMs(use, 10)).toBe(9 * MIN);
  });

  it('continues the earlier count when the clock returns to a day', () => {
    let use = countUse(budgetUse([], 0), MON, 0, 5 * MIN);
    use = countUse(use, '2031-01-01', 1, 2 * MIN);
    use = countUse(use, MON, 2, MIN);
    expect(use.today).toMatchObject({ day: MON, usedMs: 6 * MIN });
  });

  it('adds use without a clock to the right day once the clock is set', () => {
    const kept = [{ day: MON, usedMs: 5 * MIN, toldFor: 6 }];
    let use = countUse(budgetUse(kept, 0), null, 0, 0);
    use = countUse(use, null, MIN, MIN);
    expect(leftMs(use, 2)).toBe(MIN);
    use = countUse(use, MON, 2 * MIN, 0);
    expect(use.today).toEqual({ day: MON, usedMs: 6 * MIN, toldFor: 6 });
    // Each minute is added only once.
    use = countUse(countUse(use, null, 3 * MIN, 0), MON, 3 * MIN, 0);
    expect(use.today.usedMs).toBe(6 * MIN);
  });

  it('adds a stored count that is read late to the use of the same day only', () => {
    let use = countUse(budgetUse([], 0), MON, 0, 2 * MIN);
    use = countUse(use, TUE, MIN, MIN);
    const kept = [
      { day: '2026-05-03', usedMs: 9 * MIN, toldFor: null },
      { day: MON, usedMs: 7 * MIN, toldFor: null },
      { day: TUE, usedMs: 5 * MIN, toldFor: 10 },
    ];
    use = addKept(use, kept);
    expect(use.today).toEqual({ day: TUE, usedMs: 6 * MIN, toldFor: 10 });
    expect(daysToKeep(use).map(({ usedMs }) => usedMs / MIN)).toEqual([9, 9, 6]);
    expect(addKept(budgetUse([], 0), kept).today.usedMs).toBe(0);
  });

  it('starts again after 24 h when the clock is never set', () => {
    let use = countUse(budgetUse([], 0), null, 0, 5 * MIN);
    use = countUse(use, null, DAY_MS - 1, MIN);
    expect(leftMs(use, 6)).toBe(0);
    use = countUse(use, null, DAY_MS, MIN);
    expect(leftMs(use, 6)).toBe(5 * MIN);
  });

  it('warns at 80 %, once for each day and each limit', () => {
    let use = countUse(budgetUse([], 0), MON, 0, 7.9 * MIN);
    expect(isWorthTelling(use, null)).toBe(false);
    expect(isWorthTelling(use, 10)).toBe(false);
    use = countUse(use, MON, 1, 0.1 * MIN);
    expect(isWorthTelling(use, 10)).toBe(true);
    use = noteTold(use, 10);
    expect(isWorthTelling(use, 10)).toBe(false);
    expect(isWorthTelling(use, 9)).toBe(true);
    use = countUse(use, TUE, 2, 9 * MIN);
    expect(isWorthTelling(use, 10)).toBe(true);
  });

  it('gives the time until 80 % or all of the budget is used', () => {
    let use = countUse(budgetUse([], 0), MON, 0, 2 * MIN);
    expect(msToNews(use, null)).toBeNull();
    expect(msToNews(use, 10)).toBe(6 * MIN);
    use = noteTold(countUse(use, MON, 1, 6 * MIN), 10);
    expect(msToNews(use, 10)).toBe(2 * MIN);
    use = countUse(use, MON, 2, 2 * MIN);
    expect(msToNews(use, 10)).toBeNull();
    expect(msToNews(use, 100)).toBe(70 * MIN);
  });

  it('stores the last eight days, however often the clock jumps', () => {
    let use = budgetUse([], 0);
    for (let day = 1; day <= 28; day++)
      use = countUse(use, `2026-02-${String(day).padStart(2, '0')}`, day, MIN);
    expect(daysToKeep(use)).toHaveLength(8);
    expect(daysToKeep(use).at(-1)?.day).toBe('2026-02-28');
    expect(daysToKeep(budgetUse(daysToKeep(use), 0))).toHaveLength(8);
    const kept = Array.from({ length: 9 }, (_, day) => ({
      day: `2026-05-0${day + 1}`,
      usedMs: MIN,
      toldFor: null,
    }));
    expect(
      daysToKeep(addKept(budgetUse([], 0), kept))
        .map(({ day }) => day?.slice(-1))
        .join(''),
    ).toBe('23456789');
  });
});
