import { describe, expect, it } from 'vitest';
import { canonicalJson } from '../../../src/core/canonical-json.ts';
import {
  effectiveOf,
  findNamer,
  readDocument,
  resolveDesired,
} from '../../../src/device/config/desired-rules.ts';
import { configSchema } from '../../../src/protocol/config.ts';
import { fc } from '../../properties.ts';

const BASE = configSchema.parse({
  device: { id: 'kiosk-01', tenant: 'museum' },
  mqtt: { url: 'mqtts://broker.example' },
  lanes: [
    { id: 'main', source: 'en', targets: ['es'], capture: { device: 'a' }, playback: { device: 'a' } },
    { id: 'side', source: 'es', targets: ['en'], capture: { device: 'b' }, playback: { device: 'b' } },
  ],
});

const resolve = (...bodies: [from: string, body: Record<string, unknown>][]) =>
  resolveDesired(
    BASE,
    bodies.map(([from, body]) => ({ from, version: 1, body })),
  );
/** Without a pause before standby. */
const KEEPING = { ...BASE, lanes: BASE.lanes.map((one) => ({ ...one, standbyAfter: 0 })) };
const lane = (config: typeof BASE, id: string) => config.lanes.find((one) => one.id === id);

describe('desired configuration', () => {
  it('changes only the keys that it names', () => {
    const { config, errors } = resolve([
      'device',
      {
        lanes: [{ id: 'side', echo: 'off' }],
        help: { answerWithin: 60 },
        update: { window: { from: '02:00', to: '04:00' } },
        log: { level: 'warn' },
      },
    ]);
    expect(errors).toEqual([]);
    expect(config).toEqual({
      ...BASE,
      lanes: [BASE.lanes[0], { ...BASE.lanes[1], echo: 'off' }],
      help: { answerWithin: 60 },
      update: { window: { from: '02:00', to: '04:00' } },
      log: { ...BASE.log, level: 'warn' },
    });
  });

  it('keeps the echo protection of a lane that shares a room', () => {
    const room = { ...BASE, rooms: [{ id: 'desk', lanes: ['main', 'side'] }] };
    const body = { lanes: [{ id: 'side', echo: 'off', standbyAfter: 5 }] };
    const kept = { lanes: [{ id: 'side', echo: 'cancel' }] };
    const plain = resolveDesired(room, [{ from: 'device', version: 1, body }]);
    expect(plain.errors).toMatchObject([
      { key: 'lanes[0].echo', message: expect.stringContaining('in a room') },
    ]);
    expect(lane(plain.config, 'side')).toMatchObject({ echo: 'half-duplex', standbyAfter: 5 });
    const later = resolveDesired(room, [{ from: 'device', version: 1, body, kept }]);
    expect(lane(later.config, 'side')).toMatchObject({ echo: 'cancel', standbyAfter: 5 });
  });

  it('applies the groups in order, and the device last', () => {
    const { config } = resolve(
      ['group:lobby', { lanes: [{ id: 'main', targets: ['fr'], echo: 'off', standbyAfter: 5 }] }],
      ['group:east', { lanes: [{ id: 'main', targets: ['it'], echo: 'cancel' }] }],
      ['device', { lanes: [{ id: 'main', targets: ['de'] }] }],
    );
    expect(lane(config, 'main')).toMatchObject({ targets: ['de'], echo: 'cancel', standbyAfter: 5 });
  });

  it('finds a lane by its id, or by its position', () => {
    const { config } = resolve(['device', { lanes: [{ echo: 'off' }, { echo: 'cancel' }] }]);
    expect(config.lanes.map(({ echo }) => echo)).toEqual(['off', 'cancel']);
  });

  it('refuses a lane that is named twice', () => {
    const [one, other] = [{ echo: 'off' }, { echo: 'cancel', standbyAfter: 5 }];
    const twice = resolve([
      'device',
      { lanes: [{ id: 'side', ...one }, { id: 'main' }, { id: 'side', ...other }] },
    ]);
    expect(lane(twice.config, 'side')).toEqual({ ...BASE.lanes[1], echo: 'off' });
    expect(twice.errors).toEqual([
      { from: 'device', key: 'lanes[2]', message: 'must be unique: lanes[0] is about the same lane, side' },
    ]);
    const byPlace = resolve(['device', { lanes: [{ id: 'side', ...one }, other] }]);
    expect(lane(byPlace.config, 'side')).toEqual({ ...BASE.lanes[1], echo: 'off' });
    expect(byPlace.errors).toEqual([
      { from: 'device', key: 'lanes[1]', message: 'must be unique: lanes[0] is about the same lane, side' },
    ]);
    // Two documents may name the same lane.
    expect(resolve(['group:a', { lanes: [one] }], ['device', { lanes: [other] }]).errors).toEqual([]);
  });

  it.each([
    [{ lanes: [{ id: 'main', echo: 'loud' }] }, { echo: 'off', standbyAfter: 0 }],
    [{ lanes: [{ id: 'main', source: 'fr', targets: ['fr'] }] }, { source: 'de', targets: ['it'] }],
    [{ lanes: [{ id: 'main', source: 5 }] }, { source: 'de', targets: ['es'] }],
    [{ lanes: 'x' }, { echo: 'off', standbyAfter: 7, source: 'de' }],
    [{ lanes: [7] }, { echo: 'off', standbyAfter: 7, source: 'de' }],
    [{ lanes: [{ id: 'other', echo: 'off' }] }, { echo: 'half-duplex', source: 'en' }],
  ])('keeps the earlier values of the refused keys of %j', (body, expected) => {
    const before = { lanes: [{ id: 'main', source: 'de', targets: ['it'], echo: 'off', standbyAfter: 7 }] };
    const kept = resolve(['device', before]).inForce.get('device');
    const { config, errors } = resolveDesired(KEEPING, [{ from: 'device', version: 2, body, kept }]);
    expect(errors).toHaveLength(1);
    expect(lane(config, 'main')).toMatchObject(expected);
  });

  it('keeps the schedule and the limit in force when a newer document has wrong ones', () => {
    const before = {
      schedule: { timeZone: 'Europe/Berlin', open: [{ days: ['mon'], from: '09:00', to: '18:00' }] },
      budget: { minutesPerDay: 9 },
    };
    const first = resolve(['device', before]);
    expect(first).toMatchObject({ errors: [], config: { schedule: { timeZone: 'Europe/Berlin' } } });
    const body = { schedule: { timeZone: 'Mars' }, budget: { minutesPerDay: 'x' } };
    const kept = first.inForce.get('device');
    const next = resolveDesired(BASE, [{ from: 'device', version: 2, body, kept }]);
    expect(next.errors.map(({ key }) => key)).toEqual(['schedule.timeZone', 'budget.minutesPerDay']);
    expect(next.config).toEqual(first.config);
    // A kept value that is no longer valid is not used.
    const spoilt = { lanes: [{ id: 'main', echo: 4 }], schedule: 3, budget: { minutesPerDay: 'y' } };
    expect(resolveDesired(BASE, [{ from: 'device', version: 2, body, kept: spoilt }]).config).toEqual(BASE);
  });

  it('applies the valid keys of a document when other keys are invalid', () => {
    const { config, errors } = resolve([
      'device',
      {
        version: 4,
        ts: null,
        mqtt: { url: 'mqtt://thief.example' },
        device: { label: 'x' },
        schedule: 'x',
        iat: 7,
        lanes: [
          {
            id: 'main',
            echo: 'loud',
            start: 'voice',
            standbyAfter: -1,
            capture: {},
            constructor: 1,
            voice: null,
          },
          { id: 'none', echo: 'off' },
          'side',
        ],
        log: { level: 'shout', journal: 'json' },
      },
    ]);
    expect(lane(config, 'main')).toMatchObject({
      echo: 'half-duplex',
      start: 'voice',
      standbyAfter: 120,
      voice: null,
    });
    expect(errors.map(({ from, key, message }) => `${from} ${key}: ${message}`)).toEqual([
      'device mqtt: cannot be set over MQTT; allowed here: lanes, schedule, budget, help, update, log, screen',
      'device device: cannot be set over MQTT; allowed here: lanes, schedule, budget, help, update, log, screen',
      'device schedule: must be an object',
      'device lanes[0].echo: must be one of "half-duplex", "cancel", "off"',
      'device lanes[0].standbyAfter: must be at least 0',
      'device lanes[0].capture: cannot be set over MQTT; allowed here: source, targets, voice, echo, start, standbyAfter, volume',
      'device lanes[0].constructor: cannot be set over MQTT; allowed here: source, targets, voice, echo, start, standbyAfter, volume',
      'device lanes[1]: this device has no such lane; it has main, side',
      'device lanes[2]: must be an object { ... }',
      'device log.level: must be one of "trace", "debug", "info", "warn", "error", "fatal"',
      'device log.journal: cannot be set over MQTT; allowed here: level',
    ]);
  });

  it('sets who runs the kiosk, reports it, and refuses a text that is too long or another key', () => {
    const operator = 'Museo de la Ciudad · متحف المدينة';
    const { config, errors } = resolve(['device', { screen: { operator } }]);
    expect(config.screen).toEqual({ ...BASE.screen, operator });
    expect(effectiveOf(config).screen).toEqual({ operator });
    expect(errors).toEqual([]);
    const refused = resolve(['device', { screen: { operator: 'x'.repeat(201), layout: 'one' } }]);
    expect(refused.config.screen).toEqual(BASE.screen);
    expect(refused.errors.map(({ key, message }) => `${key}: ${message}`)).toEqual([
      'screen.operator: must have at most 200 characters',
      'screen.layout: cannot be set over MQTT; allowed here: operator',
    ]);
    expect(resolve(['device', { screen: { operator: 'x'.repeat(200) } }]).errors).toEqual([]);
  });

  it('sets the volume of the loudspeaker, and reports it', () => {
    const { config, errors } = resolve(['device', { lanes: [{ id: 'main', volume: 35 }] }]);
    expect(lane(config, 'main')?.playback).toMatchObject({ volume: 35 });
    expect(lane(config, 'main')).not.toHaveProperty('volume');
    expect(effectiveOf(config).lanes.map(({ id, volume }) => [id, volume])).toContainEqual(['main', 35]);
    expect(errors).toEqual([]);
    for (const volume of [-1, 101, 2.5, '50', null])
      expect(resolve(['device', { lanes: [{ id: 'main', volume }] }]).errors).toMatchObject([
        { key: 'lanes[0].volume' },
      ]);
  });

  it('keeps source and targets when the desired combination is impossible', () => {
    const { config, errors } = resolve([
      'device',
      { lanes: [{ id: 'main', targets: ['en', 'fr'], echo: 'off' }] },
    ]);
    expect(lane(config, 'main')).toMatchObject({ source: 'en', targets: ['es'], echo: 'off' });
    expect(errors).toEqual([
      {
        from: 'device',
        key: 'lanes[0].targets',
        message: 'targets must not name "en", which is the source already',
      },
    ]);
  });

  it.each([
    [null],
    [[]],
    ['x'],
    [4],
    [{}],
    [{ version: -1 }],
    [{ version: 1.5 }],
    [{ version: '1' }],
    [{ version: 1, ts: 5 }],
  ])('refuses %j as a whole, in words', (body) => {
    expect(readDocument('device', body)).toMatch(/must be/);
  });

  it('never throws and always makes a valid configuration, for any document', () => {
    const part = fc.oneof(
      fc.jsonValue(),
      fc.constantFrom('en', 'es', ['en'], ['es'], 'off', 5, null, 'main', 'voice'),
    );
    const key = fc.constantFrom(
      'id',
      'source',
      'targets',
      'voice',
      'echo',
      'start',
      'standbyAfter',
      '__proto__',
      'x',
    );
    const entry = fc.oneof(part, fc.dictionary(key, part));
    const body = fc.record({
      lanes: fc.oneof(part, fc.array(entry)),
      log: fc.oneof(part, fc.dictionary(fc.constantFrom('level', 'x'), part)),
    });
    fc.assert(
      fc.property(fc.array(body, { maxLength: 3 }), (bodies) => {
        const { config } = resolve(
          ...bodies.map((one) => ['device', one] as [string, Record<string, unknown>]),
        );
        expect(configSchema.safeParse(config).success).toBe(true);
        const { lanes: _, log: __, ...others } = config;
        const { lanes: ___, log: ____, ...before } = BASE;
        expect(others).toEqual(before);
      }),
      { numRuns: 300 },
    );
  });
});

describe('canonical JSON', () => {
  it('follows RFC 8785', () => {
    const value = {
      '\u20ac': 'Euro',
      '\r': 1,
      '\ufb33': 2,
      '1': 'One',
      '\u{1f600}': 3,
      '\u0080': 4,
      ö: [1e30, 4.5, 2e-3, 0.000001, -0],
    };
    expect(canonicalJson(value, 9)).toBe(
      '{"\\r":1,"1":"One","\u0080":4,"ö":[1e+30,4.5,0.002,0.000001,0],"\u20ac":"Euro","\u{1f600}":3,"\ufb33":2}',
    );
    expect(canonicalJson([[[1]]], 2)).toBeNull();
  });
  it('is the same text for the same effective configuration', () => {
    expect(canonicalJson(effectiveOf(BASE), 9)).toContain(
      '"standbyAfter":120,"start":"boot","targets":["es"]',
    );
  });
});

describe('the document that sets a key', () => {
  const find = (keys: readonly string[], ...bodies: [from: string, body: Record<string, unknown>][]) => {
    const documents = bodies.map(([from, body]) => ({ from, version: 1, body }));
    return findNamer(BASE, documents, resolveDesired(BASE, documents).errors, 'side', keys);
  };
  const of = (more: object) => ({
    lanes: [
      { id: 'main', voice: 'x' },
      { id: 'side', ...more },
    ],
  });

  it('is the last one that names the key; the position in that document is returned', () => {
    const lobby = ['group:lobby', of({ targets: ['de'] })] as [string, Record<string, unknown>];
    expect(find(['targets'], lobby, ['device', of({ echo: 'off' })])).toEqual({
      from: 'group:lobby',
      key: 'lanes[1].targets',
    });
    expect(find(['targets'], lobby, ['device', { lanes: [{}, { targets: ['fr'] }] }])).toEqual({
      from: 'device',
      key: 'lanes[1].targets',
    });
    expect(find(['source', 'targets'], lobby, ['device', { lanes: [{ id: 'side', source: 'pt' }] }])).toEqual(
      {
        from: 'device',
        key: 'lanes[0].source',
      },
    );
  });

  it('is never an entry that was refused as a whole', () => {
    const body = {
      lanes: [
        { id: 'side', targets: ['fr'] },
        { id: 'side', targets: ['de'] },
      ],
    };
    expect(find(['targets'], ['device', body])).toEqual({ from: 'device', key: 'lanes[0].targets' });
  });

  it('is never one whose key was refused, and is null when no document sets the key', () => {
    const lobby = ['group:lobby', of({ targets: ['de'] })] as [string, Record<string, unknown>];
    expect(find(['targets'], lobby, ['device', of({ targets: [] })])).toEqual({
      from: 'group:lobby',
      key: 'lanes[1].targets',
    });
    expect(find(['voice'], lobby, ['device', of({ echo: 'off' })])).toBeNull();
    expect(find(['targets'], ['device', { lanes: 'none' }], ['device', { lanes: [7] }])).toBeNull();
  });
});
