/** Problem messages: none repeats itself, and none advises what is already there. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { formatProblem, problemPlace } from '../../../src/adapters/config/layer.ts';
import { loadConfig } from '../../../src/adapters/config/load.ts';

const BASE = {
  device: { id: 'kiosk-01', tenant: 'museum' },
  mqtt: { url: 'mqtts://broker.example' },
  lanes: [{ source: 'en', targets: ['es'] }],
};

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'dragoman-sentences-'));
});
afterAll(() => rmSync(folder, { recursive: true }));

/** The messages without their place. */
function said(more: object, env: Record<string, string> = {}): string[] {
  const file = join(folder, 'config.json');
  writeFileSync(file, JSON.stringify({ ...BASE, ...more }));
  const result = loadConfig({ file, env });
  const problems = result.ok ? [] : result.problems;
  return problems.map((problem) => formatProblem(problem).replace(/^\S+config\.json:\d+:\d+: /, ''));
}

describe('a missing key in a part that may be null', () => {
  it('is reported once, with its purpose', () => {
    expect(said({ schedule: {}, audio: { unfixable: {} } })).toEqual([
      'schedule.timeZone: is missing: must be a text of 1 to 64 characters (Time zone of all times and dates in the schedule, such as "Europe/Berlin".)',
      'schedule.open: is missing: must be a list of 1 to 32 (Opening hours; they may overlap.)',
      'audio.unfixable.command: is missing: must be a list of 1 to 64 (Program and arguments, no shell; runs at most once an hour.)',
    ]);
    expect(said({ schedule: { timeZone: 'UTC', open: [{ days: ['mon'], from: '09:00' }] } })).toEqual([
      'schedule.open[0].to: is missing: must be a text (Closing time; on the next day if not later than "from".)',
    ]);
  });
});

it('an unknown key in a part that may be null is reported with the known keys', () => {
  const open = [{ days: ['mon'], from: '09:00', to: '18:00', form: 1 }];
  expect(
    said({
      schedule: { timeZone: 'UTC', open, close: [] },
      audio: { unfixable: { command: ['x'], after: 1 } },
    }),
  ).toEqual([
    'schedule.open[0].form: is not a known key; allowed here: days, from, to',
    'schedule.close: is not a known key; did you mean "closed"?',
    'audio.unfixable.after: is not a known key; did you mean "afterS"?',
  ]);
});

it('a problem that names what was found does not name it twice', () => {
  const lane = (id: string): object => ({ id, source: 'en', targets: ['es'] });
  expect(said({ lanes: [lane('a'), lane('b')], rooms: [{ id: 'counter', lanes: ['a', 'x'] }] })).toEqual([
    'rooms[0].lanes[1]: there is no lane "x"; there are a, b',
  ]);
});

describe('a misspelt key', () => {
  it('is the only problem when the key that was meant is missing', () => {
    expect(said({ lanes: [{ sorce: 'en', targets: ['es'] }] })).toEqual([
      'lanes[0].sorce: is not a known key; did you mean "source"?',
    ]);
  });
  it('hides no other problem of the key that was meant', () => {
    expect(said({ lanes: [{ sorce: 'en', source: 7, targets: ['es'] }] })).toHaveLength(2);
    expect(said({ lanes: [{ sorce: 'en' }] })).toEqual([
      expect.stringMatching(/^lanes\[0\]\.targets: is missing/),
      expect.stringMatching(/^lanes\[0\]\.sorce: is not a known key/),
    ]);
  });
});

describe('a variable for an impossible lane', () => {
  const what = 'no key of the configuration has this variable';
  it.each(['99999999', '100', '00', '01'])('does not get itself as advice for the number %s', (number) => {
    const name = `DRAGOMAN_LANES_${number}_VOICE`;
    expect(said({}, { [name]: 'x' })).toEqual([`${name}: ${what}; lanes are counted from 0 to 15`]);
  });

  it('is distinguished from a misspelt variable, and from a number in another place', () => {
    expect(
      said({}, { DRAGOMAN_LANES_20_VOISE: 'x', DRAGOMAN_LANES_15_VOISE: 'x', DRAGOMAN_MQTT_100_URL: 'x' }),
    ).toEqual([
      `DRAGOMAN_LANES_15_VOISE: ${what}; did you mean DRAGOMAN_LANES_15_VOICE?`,
      `DRAGOMAN_LANES_20_VOISE: ${what}; lanes are counted from 0 to 15`,
      `DRAGOMAN_MQTT_100_URL: ${what}; did you mean DRAGOMAN_MQTT_URL?`,
    ]);
  });
});

it('the place of a problem is its key, or the file and line when the whole file is wrong', () => {
  const source = { kind: 'file', name: '/etc/dragoman/config.json', line: 3, column: 5 } as const;
  expect(problemPlace({ path: 'mqtt.url', source })).toBe('mqtt.url');
  expect(problemPlace({ path: '', source })).toBe('config.json:3');
  expect(problemPlace({ path: '', source: { kind: 'conf.d', name: '/etc/dragoman/conf.d' } })).toBe('conf.d');
  expect(problemPlace({ path: '', source: { kind: 'environment', name: 'DRAGOMAN_X' } })).toBe('');
  expect(problemPlace({ path: '', source: null })).toBe('');
});
