import { DAY_MS } from './local-time.ts';

/** The stream time used on one local day. */
export interface BudgetDay {
  /** `2026-05-04`; null: the clock was not set. */
  readonly day: string | null;
  /** Time of open streams (ms). */
  readonly usedMs: number;
  /** The limit in minutes for which the warning was given; null: no warning yet. */
  readonly toldFor: number | null;
}

/** The use of recent days. If the clock is set back, the count of the earlier day continues. */
export interface BudgetUse {
  readonly today: BudgetDay;
  /** When `today` began to be counted, monotonic milliseconds. */
  readonly since: number;
  /** Other days, the most recent one last. */
  readonly others: readonly BudgetDay[];
}

const MOST_DAYS = 8;
/** Share of the budget from which the owner is warned. */
export const TELL_FROM = 0.8;

const unused = (day: string | null): BudgetDay => ({ day, usedMs: 0, toldFor: null });

/** @param kept as saved at the end of the last run */
export function budgetUse(kept: readonly BudgetDay[], now: number): BudgetUse {
  return { today: unused(null), since: now, others: kept.slice(-MOST_DAYS) };
}

/** The saved use was read late: adds it to what was counted before it was read. */
export function addKept({ today, since, others }: BudgetUse, kept: readonly BudgetDay[]): BudgetUse {
  const add = (one: BudgetDay): BudgetDay => {
    const same = kept.find(({ day }) => day !== null && day === one.day);
    if (same === undefined) return one;
    return { ...one, usedMs: one.usedMs + same.usedMs, toldFor: one.toldFor ?? same.toldFor };
  };
  const known = [today, ...others].map(({ day }) => day);
  const before = kept.filter(({ day }) => !known.includes(day));
  return { today: add(today), since, others: [...before, ...others.map(add)].slice(-MOST_DAYS) };
}

/**
 * Adds the use since the last call.
 * @param day the present local day; null: the clock is not set, and a day is 24 h
 */
export function countUse(use: BudgetUse, day: string | null, now: number, usedMs: number): BudgetUse {
  const isOver = day !== use.today.day || (day === null && now - use.since >= DAY_MS);
  const { today, ...rest } = isOver ? turnTo(use, day, now) : use;
  return { ...rest, today: { ...today, usedMs: today.usedMs + usedMs } };
}

function turnTo({ today, others }: BudgetUse, day: string | null, now: number): BudgetUse {
  const known = day === null ? unused(null) : (others.find((one) => one.day === day) ?? unused(day));
  // Once the clock is set, the day of the earlier use is known.
  const carriedMs = today.day === null && day !== null ? today.usedMs : 0;
  const left = today.day === null ? [] : [today];
  return {
    today: { ...known, usedMs: known.usedMs + carriedMs },
    since: now,
    others: [...others.filter((one) => one.day !== day), ...left].slice(-MOST_DAYS),
  };
}

/** The days to save for a restart, the present day last. */
export function daysToKeep({ today, others }: BudgetUse): readonly BudgetDay[] {
  return [...others, ...(today.day === null ? [] : [today])].slice(-MOST_DAYS);
}

const MINUTE_MS = 60_000;

/** Milliseconds left of the day's budget; null: no limit. */
export function leftMs({ today }: BudgetUse, minutesPerDay: number | null): number | null {
  return minutesPerDay === null ? null : Math.max(0, minutesPerDay * MINUTE_MS - today.usedMs);
}

/** Whether to warn the owner that most of the budget is used: once per day and limit. */
export function isWorthTelling({ today }: BudgetUse, minutesPerDay: number | null): boolean {
  if (minutesPerDay === null || today.toldFor === minutesPerDay) return false;
  return today.usedMs >= TELL_FROM * minutesPerDay * MINUTE_MS;
}

/** Milliseconds of use until the next warning or end; null: none. */
export function msToNews(use: BudgetUse, minutesPerDay: number | null): number | null {
  const left = leftMs(use, minutesPerDay);
  if (minutesPerDay === null || left === null || left === 0) return null;
  const toTell = TELL_FROM * minutesPerDay * MINUTE_MS - use.today.usedMs;
  return use.today.toldFor !== minutesPerDay && toTell > 0 ? toTell : left;
}

/** Notes that the owner was warned. */
export function noteTold(use: BudgetUse, minutesPerDay: number): BudgetUse {
  return { ...use, today: { ...use.today, toldFor: minutesPerDay } };
}
