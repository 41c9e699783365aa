import { afterEach, describe, expect, it } from 'vitest';
import { machineDay, machineTimeZone } from '../../src/adapters/time-zone.ts';
import { localDay, weekdayOf } from '../../src/device/limits/local-time.ts';
import { asWall } from '../../src/protocol/common/time.ts';
import { isTimeZone } from '../../src/protocol/config-hours.ts';

const before = process.env['TZ'];
afterEach(() => {
  if (before === undefined) delete process.env['TZ'];
  else process.env['TZ'] = before;
});

describe('the time zone of the machine', () => {
  it('is known by its name', () => {
    process.env['TZ'] = 'Asia/Kolkata';
    expect(['Asia/Kolkata', 'Asia/Calcutta']).toContain(machineTimeZone());
  });

  it.each(['', 'Foo/Bar', ':/etc/localtime', '/etc/localtime', 'Etc/Unknown', 'UTC+3', 'CET-1CEST'])(
    'is valid or null when it is set to %j',
    (zone) => {
      process.env['TZ'] = zone;
      const name = machineTimeZone();
      expect(name === null || isTimeZone(name)).toBe(true);
    },
  );

  it.each(['UTC', 'Europe/Berlin', 'America/St_Johns', 'Asia/Kathmandu', 'Pacific/Kiritimati'])(
    'has the same days without the tables of time zones when it is %s',
    (zone) => {
      process.env['TZ'] = zone;
      const from = Date.UTC(2026, 0, 1);
      for (let quarter = 0; quarter < 366 * 96; quarter++) {
        const wall = asWall(from + quarter * 900_000);
        const [day, table] = [machineDay(wall), localDay(wall, zone)];
        if (day !== table) expect([quarter, day]).toEqual([quarter, table]);
      }
    },
  );

  it.each(['UTC', 'America/New_York', 'Pacific/Kiritimati'])(
    'does not change the weekday of a date when it is %s',
    (zone) => {
      process.env['TZ'] = zone;
      // Thursday, 1 January 1970; Sunday, 1 March 2026.
      expect([weekdayOf(0), weekdayOf(20_513)]).toEqual([4, 0]);
    },
  );
});
