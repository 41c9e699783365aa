/** Compares a year of opening hours with a wall clock. */
import { expect, it } from 'vitest';
import { openingAt } from '../../../src/device/limits/schedule.ts';
import { asWall, type WallMs } from '../../../src/protocol/common/time.ts';
import { type Schedule, scheduleSchema, WEEKDAYS } from '../../../src/protocol/config-hours.ts';

export const WORKDAYS = 'mon tue wed thu fri';
export const at = (text: string): WallMs => asWall(Date.parse(text));
export const schedule = (
  timeZone: string,
  open: readonly (readonly [days: string, from: string, to: string])[],
  closed: readonly string[] = [],
): Schedule =>
  scheduleSchema.parse({
    timeZone,
    open: open.map(([days, from, to]) => ({ days: days.split(' '), from, to })),
    closed,
  });

const FROM = at('2026-01-01T00:00:00Z');
const TO = at('2027-01-01T00:00:00Z');
const CLOSED = ['2026-01-01', '2026-05-01', '2026-12-25'];

/** The local clock time, by another method than the code's: `2026-03-29 02:00`. */
function clockOf(timeZone: string): (wall: number) => string {
  const clock = new Intl.DateTimeFormat('sv-SE', { dateStyle: 'short', timeStyle: 'short', timeZone });
  return (wall) => clock.format(wall);
}

/** As a person with a wall clock and the opening hours would judge. */
function isOpen(shown: string): boolean {
  const [date = '', time = ''] = shown.split(' ');
  const day = new Date(`${date}T12:00:00Z`);
  const before = new Date(day.getTime() - 86_400_000).toISOString().slice(0, 10);
  const name = WEEKDAYS[day.getUTCDay()] ?? '';
  if (name === 'sun' && time < '04:15') return !CLOSED.includes(before);
  if (CLOSED.includes(date)) return false;
  return name === 'sat' ? time >= '22:00' : name !== 'sun' && time >= '09:00' && time < '18:30';
}

/** @param everyMinutes interval of the comparisons */
export function describeYear(zone: string, everyMinutes: number): void {
  const clock = clockOf(zone);
  const given = schedule(
    zone,
    [
      [WORKDAYS, '09:00', '18:30'],
      ['sat', '22:00', '04:15'],
    ],
    CLOSED,
  );

  it('is open exactly when a wall clock shows opening hours', () => {
    const wrong: string[] = [];
    let [looked, open] = [0, 0];
    for (let wall: number = FROM; wall < TO; wall += everyMinutes * 60_000) {
      const shown = clock(wall);
      const is = openingAt(given, asWall(wall)).isOpen;
      if (is !== isOpen(shown)) wrong.push(shown);
      looked += 1;
      open += Number(is);
    }
    expect(wrong).toEqual([]);
    expect(looked).toBe(Math.ceil((365 * 24 * 60) / everyMinutes));
    // A third of the time: 47.5 of the 168 hours of a week, and 6.25 from Saturday on.
    expect(open / looked).toBeGreaterThan(0.25);
    expect(open / looked).toBeLessThan(0.4);
  });

  it('changes exactly at the times of its opening hours, each day', () => {
    const wrong: string[] = [];
    let wall = FROM;
    let changes = 0;
    while (wall < TO) {
      const { isOpen: before, changesAt } = openingAt(given, wall);
      if (changesAt === null || changesAt <= wall) throw new Error('it never changes');
      const shown = clock(changesAt);
      const isLastMoment = openingAt(given, asWall(changesAt - 1)).isOpen === before;
      const isFirstMoment = openingAt(given, changesAt).isOpen !== before;
      const isOnTime = (before ? ['18:30', '04:15'] : ['09:00', '22:00']).includes(shown.slice(11));
      if (!isLastMoment || !isFirstMoment || !isOnTime) wrong.push(shown);
      wall = changesAt;
      changes += 1;
    }
    expect(wrong).toEqual([]);
    // 261 workdays of which three are closed, and 52 Saturdays: each opens and closes.
    expect(Math.abs(changes - 2 * (261 - 3 + 52))).toBeLessThanOrEqual(2);
  });
}
