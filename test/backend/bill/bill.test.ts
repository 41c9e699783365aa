/** The bill: sums, months, budgets, and what spreadsheets get. Figures are computed by hand. */
import { afterEach, describe, expect, it } from 'vitest';
import { billOf, readMonth, totalOf } from '../../../src/backend/bill/bill.ts';
import { csvOf } from '../../../src/backend/bill/bill-csv.ts';
import type { DeviceSum } from '../../../src/ports/store.ts';
import { deviceSum } from './bill-lines.ts';

const ZONE = process.env['TZ'];
afterEach(() => {
  if (ZONE === undefined) delete process.env['TZ'];
  else process.env['TZ'] = ZONE;
});

const sum = (device: string, minutes: number, more: Partial<DeviceSum> = {}): DeviceSum =>
  deviceSum(device, { sessions: 1, ms: minutes * 60_000, ...more });
const NOVEMBER = { from: 1_793_491_200_000, to: 1_796_083_200_000 };
const NOTHING = { groups: [], devices: {} };
const group = (name: string, members: string[], minutesPerMonth?: number) => ({
  name,
  members,
  session: {},
  limits: {},
  ...(minutesPerMonth !== undefined && { minutesPerMonth }),
});

describe('a month', () => {
  it.each(['UTC', 'Europe/Berlin', 'America/New_York', 'Pacific/Auckland'])(
    'is that of UTC when the machine is in %s',
    (zone) => {
      process.env['TZ'] = zone;
      expect(readMonth('2026-11')).toEqual(NOVEMBER);
      expect(readMonth('2026-12')).toEqual({ from: NOVEMBER.to, to: 1_798_761_600_000 });
      // A leap year, and a month with a change of clocks.
      expect(readMonth('2028-02')).toEqual({ from: 1_832_976_000_000, to: 1_835_481_600_000 });
      expect(readMonth('2026-03')).toEqual({ from: 1_772_323_200_000, to: 1_775_001_600_000 });
    },
  );

  it.each(['2026-00', '2026-13', '2026-1', '26-01', '2026-01-01', ' 2026-01', ''])('is not "%s"', (text) => {
    expect(readMonth(text)).toBeNull();
  });
});

describe('a bill', () => {
  it('adds up the devices of a group, each in every group that it belongs to, sorted by name', () => {
    const policy = {
      ...NOTHING,
      groups: [group('zoo', ['museum/a', 'museum/b'], 100), group('all', ['museum/*'])],
    };
    const sums = [
      sum('museum/b', 20.004, { unreported: 2, unreportedMs: 120_000, implausible: 4 }),
      sum('museum/a', 10, { sessions: 3, unreported: 1, unreportedMs: 60_000, implausible: 1 }),
      sum('other/c', 7),
    ];
    const end = NOVEMBER.to;
    const shared = { sessions: 4, minutes: 30, unreported: 3, unreported_minutes_at_most: 3, implausible: 5 };
    expect(billOf(sums, policy, 'group', NOVEMBER, end)).toMatchObject([
      { name: '(no group)', sessions: 1, minutes: 7, budget_minutes: null },
      { name: 'all', ...shared, budget_minutes: null, warning: 'none' },
      { name: 'zoo', ...shared, budget_minutes: 100, warning: 'none' },
    ]);
    expect(billOf(sums, policy, 'device', NOVEMBER, end).map(({ name, minutes }) => [name, minutes])).toEqual(
      [
        ['museum/a', 10],
        ['museum/b', 20],
        ['other/c', 7],
      ],
    );
  });

  it('names the site of a device, that of its own before that of its group', () => {
    const policy = {
      groups: [{ ...group('halls', ['museum/a', 'museum/b']), site: 'Old wing' }],
      devices: { 'museum/b': { site: 'New wing', session: {}, limits: {} } },
    };
    const names = billOf(
      [sum('museum/a', 1), sum('museum/b', 1), sum('museum/c', 1)],
      policy,
      'site',
      NOVEMBER,
      NOVEMBER.to,
    ).map(({ name }) => name);
    expect(names).toEqual(['(no site)', 'New wing', 'Old wing']);
  });

  it.each([
    [79.99, 'none'],
    [80, 'near_budget'],
    [99.99, 'near_budget'],
    [100, 'over_budget'],
  ])('with %s of 100 minutes warns: %s', (minutes, warning) => {
    const policy = { ...NOTHING, groups: [group('halls', ['museum/a'], 100)] };
    expect(billOf([sum('museum/a', minutes)], policy, 'group', NOVEMBER, NOVEMBER.to)[0]?.warning).toBe(
      warning,
    );
  });

  it('forecasts from what has passed of the month', () => {
    const at = (now: number) =>
      billOf([sum('museum/a', 10)], NOTHING, 'device', NOVEMBER, now)[0]?.forecast_minutes;
    const day = 86_400_000;
    expect([
      at(NOVEMBER.from - day),
      at(NOVEMBER.from),
      at(NOVEMBER.from + 3 * day),
      at(NOVEMBER.from + 15 * day),
      at(NOVEMBER.to),
      at(NOVEMBER.to + day),
    ]).toEqual([0, 0, 100, 20, 10, 10]);
  });

  it('has no most of unreported minutes as soon as one session has no limit', () => {
    const policy = { ...NOTHING, groups: [group('halls', ['museum/*'])] };
    const sums = [
      sum('museum/a', 1, { unreported: 1, unreportedMs: 60_000 }),
      sum('museum/b', 1, { unreported: 1, unreportedMs: null }),
    ];
    expect(billOf(sums, policy, 'group', NOVEMBER, NOVEMBER.to)[0]?.unreported_minutes_at_most).toBeNull();
    expect(totalOf(billOf(sums, policy, 'device', NOVEMBER, NOVEMBER.to))).toEqual({
      sessions: 2,
      minutes: 2,
      unreported: 2,
      unreported_minutes_at_most: null,
      implausible: 0,
      forecast_minutes: 2,
    });
  });
});

describe('comma-separated values', () => {
  const rows = (...names: string[]) => {
    const policy = {
      groups: [],
      devices: Object.fromEntries(
        names.map((site, at) => [`museum/${at}`, { site, session: {}, limits: {} }]),
      ),
    };
    const lines = billOf(
      names.map((_, at) => sum(`museum/${at}`, 1)),
      policy,
      'site',
      NOVEMBER,
      NOVEMBER.to,
    );
    return csvOf(lines);
  };

  it('have one line with the names of the columns, and empty cells for what is not known', () => {
    const [line] = billOf(
      [sum('museum/a', 1.5, { unreportedMs: null })],
      NOTHING,
      'device',
      NOVEMBER,
      NOVEMBER.to,
    );
    expect(csvOf(line === undefined ? [] : [line])).toBe(
      'name,sessions,minutes,unreported,unreported_minutes_at_most,implausible,forecast_minutes,budget_minutes,warning\n' +
        'museum/a,1,1.5,0,,0,1.5,,none\n',
    );
  });

  it.each([
    ['Hall "A"', '"Hall ""A"""'],
    ['"', '""""'],
    ['Hall, east', '"Hall, east"'],
    ['two\nlines', '"two\nlines"'],
    ['two\rlines', '"two\rlines"'],
    ['=1+1', "'=1+1"],
    ['+1', "'+1"],
    ['-1', "'-1"],
    ['@A1', "'@A1"],
    ['=HYPERLINK("x","y")', '"\'=HYPERLINK(""x"",""y"")"'],
    ['a=1', 'a=1'],
  ])('quote the name %j', (name, cell) => {
    const text = rows(name);
    expect(text.slice(text.indexOf('\n') + 1)).toBe(`${cell},1,1,0,0,0,1,,none\n`);
  });
});
