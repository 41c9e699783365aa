import { afterEach, describe, expect, it } from 'vitest';
import { machineTimeZone } from '../../src/adapters/time-zone.ts';
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
});
