import { describe, expect, it } from 'vitest';
import { dateOf, instantOf, localDay } from '../../../src/device/limits/local-time.ts';
import { delayedOpeningAt, openingAt, openingDelayMs } from '../../../src/device/limits/schedule.ts';
import { asWall } from '../../../src/protocol/common/time.ts';
import { type Schedule, scheduleSchema, WEEKDAYS } from '../../../src/protocol/config-hours.ts';
import { at, describeYear, schedule, WORKDAYS } from './opening-year.ts';

const text = (wall: number | null): string | null => (wall === null ? null : new Date(wall).toISOString());
/** Whether it is open then, and when that changes. */
const look = (given: Schedule | null, wall: string) => {
  const { isOpen, changesAt } = openingAt(given, at(wall));
  return [isOpen, text(changesAt)];
};

const EVERY_DAY = WEEKDAYS.join(' ');

describe('a schedule', () => {
  it('is always open when it is null', () => {
    expect(look(null, '2026-05-04T03:00:00Z')).toEqual([true, null]);
  });

  it('opens and closes to the minute', () => {
    const week = schedule('Europe/Berlin', [[WORKDAYS, '09:00', '18:00']]);
    // A Monday in summer: two hours ahead of UTC.
    expect(look(week, '2026-05-04T06:59:59.999Z')).toEqual([false, '2026-05-04T07:00:00.000Z']);
    expect(look(week, '2026-05-04T07:00:00Z')).toEqual([true, '2026-05-04T16:00:00.000Z']);
    expect(look(week, '2026-05-04T15:59:59.999Z')).toEqual([true, '2026-05-04T16:00:00.000Z']);
    expect(look(week, '2026-05-04T16:00:00Z')).toEqual([false, '2026-05-05T07:00:00.000Z']);
    // From Friday evening to Monday.
    expect(look(week, '2026-05-08T20:00:00Z')).toEqual([false, '2026-05-11T07:00:00.000Z']);
  });

  it('passes midnight when it ends at or before its begin', () => {
    const bar = schedule('Europe/Berlin', [['fri', '20:00', '02:00']]);
    expect(look(bar, '2026-05-08T18:00:00Z')).toEqual([true, '2026-05-09T00:00:00.000Z']);
    expect(look(bar, '2026-05-08T23:30:00Z')).toEqual([true, '2026-05-09T00:00:00.000Z']);
    expect(look(bar, '2026-05-09T00:00:00Z')).toEqual([false, '2026-05-15T18:00:00.000Z']);
    const around = schedule('UTC', [['mon', '09:00', '09:00']]);
    expect(look(around, '2026-05-04T09:00:00Z')).toEqual([true, '2026-05-05T09:00:00.000Z']);
    expect(look(around, '2026-05-05T09:00:00Z')).toEqual([false, '2026-05-11T09:00:00.000Z']);
  });

  it('joins hours that overlap or are adjacent', () => {
    const split = schedule('UTC', [
      ['mon', '09:00', '12:00'],
      ['mon', '12:00', '15:00'],
      ['mon', '14:00', '01:00'],
      ['tue', '00:30', '02:00'],
    ]);
    expect(look(split, '2026-05-04T10:00:00Z')).toEqual([true, '2026-05-05T02:00:00.000Z']);
    const always = schedule('America/New_York', [[EVERY_DAY, '00:00', '00:00']]);
    expect(look(always, '2026-05-04T10:00:00Z')).toEqual([true, null]);
  });

  it('does not open on closed dates, but ends the hours of the evening before as usual', () => {
    const bar = schedule('Europe/Berlin', [[EVERY_DAY, '18:00', '02:00']], ['2026-12-25', '2026-12-26']);
    expect(look(bar, '2026-12-24T23:30:00Z')).toEqual([true, '2026-12-25T01:00:00.000Z']);
    expect(look(bar, '2026-12-25T01:00:00Z')).toEqual([false, '2026-12-27T17:00:00.000Z']);
    expect(look(bar, '2026-12-26T20:00:00Z')).toEqual([false, '2026-12-27T17:00:00.000Z']);
  });

  it('gives the next opening after more than a year of closed dates, or null when there is none', () => {
    const dates = Array.from({ length: 400 }, (_, day) =>
      dateOf(localDay(at('2026-05-04T12:00:00Z'), 'UTC') + day),
    );
    const shut = schedule('UTC', [[EVERY_DAY, '09:00', '18:00']], dates);
    expect(look(shut, '2026-05-04T12:00:00Z')).toEqual([false, '2027-06-08T09:00:00.000Z']);
  });
});

describe('daylight saving', () => {
  const night = (zone: string) => schedule(zone, [['sun', '01:00', '04:00']]);

  it('makes a night one hour shorter in spring, and longer in autumn', () => {
    const berlin = night('Europe/Berlin');
    expect(look(berlin, '2026-03-29T00:00:00Z')).toEqual([true, '2026-03-29T02:00:00.000Z']);
    expect(look(berlin, '2026-10-24T23:00:00Z')).toEqual([true, '2026-10-25T03:00:00.000Z']);
    const newYork = night('America/New_York');
    expect(look(newYork, '2026-03-08T06:00:00Z')).toEqual([true, '2026-03-08T08:00:00.000Z']);
    // One o'clock comes twice: the first counts.
    expect(look(newYork, '2026-11-01T04:59:59Z')).toEqual([false, '2026-11-01T05:00:00.000Z']);
    expect(look(newYork, '2026-11-01T05:00:00Z')).toEqual([true, '2026-11-01T09:00:00.000Z']);
  });

  it('uses the offset before a skipped time, and the first of a repeated time', () => {
    const berlin = 'Europe/Berlin';
    const march = localDay(at('2026-03-29T12:00:00Z'), berlin);
    expect(text(instantOf(march, 2 * 60 + 30, berlin))).toBe('2026-03-29T01:30:00.000Z');
    const october = localDay(at('2026-10-25T12:00:00Z'), berlin);
    expect(text(instantOf(october, 2 * 60 + 30, berlin))).toBe('2026-10-25T00:30:00.000Z');
    expect(text(instantOf(october, 3 * 60, berlin))).toBe('2026-10-25T02:00:00.000Z');
  });

  it('may remove all opening hours of a night', () => {
    const gap = schedule('Europe/Berlin', [['sun', '02:30', '03:00']]);
    expect(look(gap, '2026-03-28T12:00:00Z')).toEqual([false, '2026-04-05T00:30:00.000Z']);
  });
});

// `schedule.long.test.ts` tests more zones, with more frequent comparisons.
describe.each([
  ['Europe/Berlin', 'two changes of an hour'],
  ['Australia/Lord_Howe', 'two changes of half an hour, in the southern summer'],
  ['UTC', 'no zone at all'],
])('a year in %s (%s)', (zone) => {
  describeYear(zone, 307);
});

describe('an invalid schedule', () => {
  const open = [{ days: ['mon'], from: '09:00', to: '18:00' }];
  it.each([
    [{ timeZone: 'Europe/Atlantis', open }, 'timeZone'],
    [{ timeZone: '', open }, 'timeZone'],
    [{ timeZone: 'Europe/Berlin\n', open }, 'timeZone'],
    [{ timeZone: 'x'.repeat(10_000), open }, 'timeZone'],
    [{ timeZone: Number.NaN, open }, 'timeZone'],
    [{ timeZone: 'UTC', open: [] }, 'open'],
    [{ timeZone: 'UTC', open: [{ ...open[0], from: '9:00' }] }, 'open.0.from'],
    [{ timeZone: 'UTC', open: [{ ...open[0], to: '24:00' }] }, 'open.0.to'],
    [{ timeZone: 'UTC', open: [{ ...open[0], days: ['monday'] }] }, 'open.0.days.0'],
    [{ timeZone: 'UTC', open: [{ ...open[0], days: ['mon', 'mon'] }] }, 'open.0.days'],
    [{ timeZone: 'UTC', open: Array(33).fill(open[0]) }, 'open'],
    [{ timeZone: 'UTC', open, closed: ['2026-02-30'] }, 'closed.0'],
    [{ timeZone: 'UTC', open, closed: Array(10_000).fill('2026-02-03') }, 'closed'],
    [{ timeZone: 'UTC', open, closes: [] }, ''],
  ])('%j is refused at %s', (given, path) => {
    expect(scheduleSchema.safeParse(given).error?.issues[0]?.path.join('.')).toBe(path);
  });

  it('is checked quickly, however long it is', () => {
    const most = schedule(
      'Europe/Berlin',
      Array.from(
        { length: 32 },
        (_, hour) => [EVERY_DAY, `${String(hour % 24).padStart(2, '0')}:00`, '00:01'] as const,
      ),
    );
    // CPU time of this process only: the machine may be busy with others.
    const began = process.cpuUsage();
    for (let day = 0; day < 20; day++) openingAt(most, asWall(at('2026-05-04T12:00:00Z') + day * 86_400_000));
    const { user, system } = process.cpuUsage(began);
    expect((user + system) / 1000).toBeLessThan(4000);
  });
});

describe('the opening of a fleet', () => {
  it('is spread over a minute by the names of the devices, always in the same way', () => {
    const names = Array.from(
      { length: 600 },
      (_, n) => `dragoman/v1/museum/kiosk-${String(n).padStart(3, '0')}`,
    );
    const delays = names.map(openingDelayMs);
    expect(names.map(openingDelayMs)).toEqual(delays);
    const perSecond = Array.from({ length: 60 }, (_, s) => delays.filter((ms) => ms === s * 1000).length);
    expect(perSecond.reduce((sum, each) => sum + each)).toBe(600);
    expect(Math.min(...perSecond)).toBeGreaterThan(0);
    expect(Math.max(...perSecond)).toBeLessThan(30);
  });

  const MORNING = schedule('UTC', [
    ['mon', '09:00', '12:00'],
    ['mon', '12:00', '13:00'],
  ]);
  const moment = (time: string) => at(`2026-05-04T${time}Z`);
  it.each([
    ['before the opening time', '08:59:59', false, '09:00:40'],
    ['in the delay', '09:00:39', false, '09:00:40'],
    ['after it', '09:00:40', true, '13:00:00'],
    ['where one part of the hours follows another', '12:00:00', true, '13:00:00'],
    ['in the last minute', '12:59:59', true, '13:00:00'],
  ])('is judged %s', (_, time, isOpen, until) => {
    expect(delayedOpeningAt(MORNING, asWall(moment(time)), 40_000)).toEqual({
      isOpen,
      changesAt: moment(until),
    });
  });

  it('does not wait when there is no schedule, or hours without an end', () => {
    const always = schedule('UTC', [[EVERY_DAY, '00:00', '00:00']]);
    for (const hours of [null, always])
      expect(delayedOpeningAt(hours, asWall(moment('00:00:00')), 40_000)).toEqual({
        isOpen: true,
        changesAt: null,
      });
  });
});
