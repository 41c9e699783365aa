import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { findZone } from '../../src/installer/zone.ts';
import { isTimeZone } from '../../src/protocol/config-hours.ts';
import { createSystem, FULL, type System } from './system-folder.ts';

/** Some of what Debian 13 has in tzdata, without tzdata-legacy. */
const PRESENT = [
  'Africa/Abidjan',
  'America/Chicago',
  'America/Denver',
  'America/Los_Angeles',
  'America/New_York',
  'America/Panama',
  'America/Phoenix',
  'America/Toronto',
  'Asia/Ho_Chi_Minh',
  'Asia/Hong_Kong',
  'Asia/Kathmandu',
  'Asia/Kolkata',
  'Asia/Shanghai',
  'Asia/Yangon',
  'Atlantic/Faroe',
  'Etc/UTC',
  'Europe/Athens',
  'Europe/Brussels',
  'Europe/Kyiv',
  'Europe/Lisbon',
  'Europe/London',
  'Pacific/Honolulu',
];

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'dragoman-zones-'));
  for (const zone of PRESENT) {
    mkdirSync(dirname(join(folder, zone)), { recursive: true });
    writeFileSync(join(folder, zone), 'TZif');
  }
  writeFileSync(join(folder, 'zone.tab'), '');
});
afterEach(() => rmSync(folder, { recursive: true }));

describe('a time zone that the system has under another name', () => {
  it.each([
    ['Asia/Calcutta', 'Asia/Kolkata'],
    ['Asia/Saigon', 'Asia/Ho_Chi_Minh'],
    ['Asia/Katmandu', 'Asia/Kathmandu'],
    ['Asia/Rangoon', 'Asia/Yangon'],
    ['Atlantic/Faeroe', 'Atlantic/Faroe'],
    ['Europe/Kiev', 'Europe/Kyiv'],
    ['Canada/Eastern', 'America/Toronto'],
    ['US/Eastern', 'America/New_York'],
    ['PRC', 'Asia/Shanghai'],
    ['Hongkong', 'Asia/Hong_Kong'],
    ['GB', 'Europe/London'],
    ['Zulu', 'Etc/UTC'],
    ['CET', 'Europe/Brussels'],
    ['MET', 'Europe/Brussels'],
    ['EET', 'Europe/Athens'],
    ['WET', 'Europe/Lisbon'],
    ['EST', 'America/Panama'],
    ['MST', 'America/Phoenix'],
    ['HST', 'Pacific/Honolulu'],
    ['EST5EDT', 'America/New_York'],
    ['CST6CDT', 'America/Chicago'],
    ['MST7MDT', 'America/Denver'],
    ['PST8PDT', 'America/Los_Angeles'],
    ['europe/athens', 'Europe/Athens'],
  ])('is found: %s as %s', (name, present) => {
    expect(isTimeZone(name)).toBe(true);
    expect(findZone(name, folder)).toBe(present);
  });

  it('keeps its name when the system has it', () => {
    for (const zone of PRESENT) expect(findZone(zone, folder)).toBe(zone);
    writeFileSync(join(folder, 'CET'), 'TZif');
    expect(findZone('CET', folder)).toBe('CET');
  });

  it.each(['Asia/Tokyo', 'Japan', 'Nowhere/Land', ''])('is not invented: %j', (name) => {
    expect(findZone(name, folder)).toBeNull();
    expect(findZone(name, join(folder, 'none'))).toBeNull();
  });
});

describe('provisioning', () => {
  let system: System;
  beforeEach(() => {
    system = createSystem();
  });
  afterEach(() => system.remove());

  it('sets the present name of an old time zone, with a note', () => {
    system.write('dragoman.json', { ...FULL, timeZone: 'europe/berlin' });
    const { result } = system.run();
    expect(result.outcome).toBe('applied');
    expect(system.text('etc/timezone')).toBe('Europe/Berlin\n');
    expect(result.notes).toContain('timeZone: "europe/berlin" is set as "Europe/Berlin".');
  });
});
