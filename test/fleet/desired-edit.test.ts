import { describe, expect, it } from 'vitest';
import {
  applyChanges,
  differences,
  missingLane,
  nextVersion,
  readChange,
} from '../../src/fleet/desired-edit.ts';

const SCHEDULE = { timeZone: 'UTC', open: [{ days: ['mon'], from: '09:00', to: '18:00' }] };
const set = (...texts: string[]) => texts.map((text) => readChange(text, false));

describe('a change of the desired configuration', () => {
  it.each([
    ['main.targets=es, fr', { scope: 'main', key: 'targets', value: ['es', 'fr'] }],
    ['main.voice=none', { scope: 'main', key: 'voice', value: null }],
    ['main.standbyAfter=30', { scope: 'main', key: 'standbyAfter', value: 30 }],
    ['main.voice=a=b', { scope: 'main', key: 'voice', value: 'a=b' }],
    ['log.level=debug', { scope: 'log', key: 'level', value: 'debug' }],
    ['help.answerWithin=90', { scope: 'help', key: 'answerWithin', value: 90 }],
    ['help.answerWithin=none', { scope: 'help', key: 'answerWithin', value: null }],
    [
      'update.window={"from":"02:00","to":"05:00"}',
      { scope: 'update', key: 'window', value: { from: '02:00', to: '05:00' } },
    ],
    ['update.window=none', { scope: 'update', key: 'window', value: null }],
    ['screen.operator=City Museum', { scope: 'screen', key: 'operator', value: 'City Museum' }],
    ['budget.minutesPerDay=90', { scope: 'budget', key: 'minutesPerDay', value: 90 }],
    ['budget.minutesPerDay=none', { scope: 'budget', key: 'minutesPerDay', value: null }],
    ['schedule=none', { scope: '', key: 'schedule', value: null }],
    [`schedule=${JSON.stringify(SCHEDULE)}`, { scope: '', key: 'schedule', value: SCHEDULE }],
  ])('%s is read', (text, expected) => {
    expect(readChange(text, false)).toEqual(expected);
  });

  it.each([
    'targets=es',
    'main.capture=x',
    'log.journal=json',
    'main.targets',
    '=x',
    '.targets=x',
    'main.constructor=1',
  ])('%s is refused with an explanation', (text) => {
    expect(() => readChange(text, false)).toThrow(/not a key that can be set|LANE\.KEY=VALUE/);
  });

  it.each([
    ['main.standbyAfter=soon', 'main.standbyAfter: must be a number'],
    ['main.volume=150', 'main.volume: must be at most 100'],
    ['budget.minutesPerDay=-5', 'budget.minutesPerDay: must be at least 1'],
    ['log.level=loud', 'log.level: must be one of'],
    ['schedule={"open":[]}', 'schedule: [timeZone] must be a text'],
  ])('%s is refused when the value is invalid', (text, told) => {
    expect(() => readChange(text, false)).toThrow(told);
  });

  it('is refused when the name of the lane is invalid', () => {
    expect(() => readChange('Main Lane.echo=off', false)).toThrow('"Main Lane" is not a lane name');
  });

  it('is refused when a schedule is not JSON', () => {
    expect(() => readChange('schedule=monday', false)).toThrow('"schedule": its value must be JSON');
  });

  it('sets and removes the schedule and the budget', () => {
    const after = applyChanges({}, set(`schedule=${JSON.stringify(SCHEDULE)}`, 'budget.minutesPerDay=5'), 1);
    expect(after).toEqual({
      version: 1,
      schedule: SCHEDULE,
      budget: { minutesPerDay: 5 },
    });
    const removals = ['schedule', 'budget.minutesPerDay'].map((key) => readChange(key, true));
    expect(applyChanges(after, removals, 2)).toEqual({ version: 2 });
  });

  it('is compared for schedule and budget, after defaults are filled in', () => {
    const effective = { lanes: [], schedule: { open: [], closed: [] }, budget: { minutesPerDay: 5 } };
    expect(differences({ schedule: { open: [] }, budget: { minutesPerDay: 5 } }, effective)).toEqual([]);
    expect(differences({ schedule: { open: [] } }, { schedule: null })).toHaveLength(1);
    expect(differences({ schedule: null, budget: { minutesPerDay: 6 } }, effective)).toEqual([
      { key: 'schedule', desired: null, effective: effective.schedule },
      { key: 'budget.minutesPerDay', desired: 6, effective: 5 },
    ]);
  });

  it('keeps other keys, and takes the next version', () => {
    const before = {
      version: 4,
      iat: 1,
      device: 'x',
      lanes: [
        { id: 'main', echo: 'off' },
        { id: 'side', voice: 'v' },
      ],
      log: { level: 'warn' },
    };
    expect(applyChanges(before, set('main.targets=es', 'new.echo=cancel'), 5)).toEqual({
      version: 5,
      lanes: [
        { id: 'main', echo: 'off', targets: ['es'] },
        { id: 'side', voice: 'v' },
        { id: 'new', echo: 'cancel' },
      ],
      log: { level: 'warn' },
    });
    expect(applyChanges(before, [readChange('main.echo', true), readChange('log.level', true)], 6)).toEqual({
      version: 6,
      lanes: [{ id: 'side', voice: 'v' }],
    });
    expect(applyChanges({}, set('log.level=debug'), 1)).toEqual({ version: 1, log: { level: 'debug' } });
  });

  it.each([
    ['maim.targets', { lanes: [{ id: 'main', echo: 'off' }], colour: 'red' }],
    ['maim', { lanes: [{ id: 'main', echo: 'off' }], colour: 'red' }],
    [
      'colour',
      {
        lanes: [
          { id: 'main', echo: 'off' },
          { id: 'maim', targets: ['es'] },
        ],
      },
    ],
    ['lanes', { colour: 'red' }],
    [
      'version',
      {
        lanes: [
          { id: 'main', echo: 'off' },
          { id: 'maim', targets: ['es'] },
        ],
        colour: 'red',
      },
    ],
    [
      'nothing.there',
      {
        lanes: [
          { id: 'main', echo: 'off' },
          { id: 'maim', targets: ['es'] },
        ],
        colour: 'red',
      },
    ],
  ])('takes %s out, whatever it is', (key, left) => {
    const before = {
      version: 1,
      lanes: [
        { id: 'main', echo: 'off' },
        { id: 'maim', targets: ['es'] },
      ],
      colour: 'red',
    };
    expect(applyChanges(before, [readChange(key, true)], 2)).toEqual({ version: 2, ...left });
  });

  it('names the lane that no device has', () => {
    const changes = set('log.level=debug', 'main.echo=off', 'maim.targets=es');
    expect(missingLane(changes, ['main', 'side'])).toBe('maim');
    expect(missingLane([...set('main.echo=off'), readChange('maim.targets', true)], ['main'])).toBeNull();
  });

  it('is compared with the effective configuration, key by key', () => {
    const effective = { lanes: [{ id: 'main', echo: 'off', targets: ['es'] }], log: { level: 'info' } };
    expect(
      differences(
        {
          lanes: [
            { id: 'main', echo: 'off', targets: ['fr'] },
            { id: 'x', echo: 'off' },
          ],
          log: { level: 'info' },
        },
        effective,
      ),
    ).toEqual([
      { key: 'main.targets', desired: ['fr'], effective: ['es'] },
      { key: 'x.echo', desired: 'off', effective: undefined },
    ]);
    expect(differences({ lanes: 'x', log: 4 }, null)).toEqual([]);
  });
});

describe('the next version of a desired configuration', () => {
  it.each([
    ['the document', 7, [], 8],
    ['what a device has seen', 0, [12, 3], 13],
    ['a time in microseconds', 0, [1_790_000_000_000_000], 1_790_000_000_000_001],
  ])('is higher than %s', (_, known, reported, next) => {
    expect(nextVersion(known, reported)).toBe(next);
  });

  it('leaves room for further ones, whatever a device reports', () => {
    for (const hostile of [Number.MAX_SAFE_INTEGER, Number.MAX_SAFE_INTEGER - 1, 8e15, -5]) {
      let version = 3;
      for (let change = 0; change < 1000; change += 1) version = nextVersion(version, [4, hostile]);
      expect(Number.isSafeInteger(version + 1e9)).toBe(true);
    }
  });
});
