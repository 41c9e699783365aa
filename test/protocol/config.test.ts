import { describe, expect, it } from 'vitest';
import {
  type Config,
  configSchema,
  DESIRED_KEYS,
  DESIRED_WHOLE,
  desiredSchema,
} from '../../src/protocol/config.ts';

const SMALLEST = {
  device: { id: 'kiosk-01', tenant: 'museum' },
  mqtt: { url: 'mqtts://broker.example' },
  lanes: [{ source: 'en', targets: ['es'] }],
};

/** The smallest configuration with one part of it replaced. */
const withPart = (part: object): object => ({ ...SMALLEST, ...part });
const withLane = (lane: object): object => withPart({ lanes: [{ ...SMALLEST.lanes[0], ...lane }] });
const withMqtt = (mqtt: object): object => withPart({ mqtt: { ...SMALLEST.mqtt, ...mqtt } });

function faults(value: unknown): string[] {
  const issues = configSchema.safeParse(value).error?.issues ?? [];
  return issues.map((issue) => issue.path.join('.'));
}

describe('the configuration', () => {
  it('fills in every default', () => {
    const expected: Config = {
      device: { id: 'kiosk-01', tenant: 'museum', groups: [], label: '', site: '' },
      mqtt: {
        url: 'mqtts://broker.example',
        prefix: 'dragoman/v1',
        allowInsecure: false,
        username: null,
        passwordFile: null,
        caFile: null,
        certFile: null,
        keyFile: null,
        version: 'auto',
      },
      lanes: [
        {
          id: 'main',
          capture: { driver: 'alsa', device: 'default', gain: null, sampleRate: 24_000 },
          playback: { driver: 'alsa', device: 'default', also: null, volume: 100, normalize: true },
          headset: null,
          bargeIn: 'duck',
          earcons: null,
          source: 'en',
          targets: ['es'],
          voice: null,
          echo: 'half-duplex',
          start: 'boot',
          standbyAfter: 120,
          rolloverLead: 22,
          offer: [],
          twoWay: 'off',
          pushToTalk: false,
        },
      ],
      metrics: { listen: null },
      rooms: [],
      keys: [],
      conversation: { endAfter: 90, warnBefore: 20, notice: true },
      help: { answerWithin: 120 },
      phrases: null,
      update: { window: null },
      owner: { publicKeyFiles: [] },
      screen: {
        enabled: false,
        port: 8484,
        layout: 'beside',
        viewingDistanceMm: 700,
        heightMm: 150,
        operator: '',
        mask: false,
      },
      schedule: null,
      budget: { minutesPerDay: null },
      service: { caFile: null, hosts: [] },
      audio: { unfixable: null },
      log: { level: 'info', journal: 'text' },
    };
    expect(configSchema.parse(SMALLEST)).toEqual(expected);
  });

  it('accepts a complete configuration unchanged', () => {
    const example = {
      device: { id: 'kiosk-01', tenant: 'museum', groups: ['lobby'], label: 'Desk', site: 'Hall' },
      mqtt: {
        url: 'mqtts://broker.example:8883',
        prefix: 'dragoman/v1',
        allowInsecure: false,
        username: 'kiosk-01',
        passwordFile: '/p',
        caFile: '/ca',
        certFile: '/c',
        keyFile: '/k',
        version: 4,
      },
      lanes: [
        {
          id: 'main',
          capture: { driver: 'alsa', device: 'plughw:CARD=Mic', sampleRate: 24_000 },
          playback: { driver: 'alsa', device: 'plughw:CARD=Speaker', volume: 80 },
          source: 'en',
          targets: ['es'],
          voice: null,
          echo: 'half-duplex',
          start: 'boot',
          standbyAfter: 120,
          rolloverLead: 22,
          offer: ['es', 'zh-Hant'],
        },
      ],
      keys: [
        {
          device: '/dev/input/by-id/usb-Pad-event-kbd',
          key: 'KEY_F1',
          on: 'press',
          do: { command: 'languages', args: { step: 1 } },
        },
      ],
      conversation: { endAfter: 60, warnBefore: 10, notice: { es: 'Interpreta una IA.' } },
      help: { answerWithin: 120 },
      phrases: { folder: '/etc/dragoman/phrases', list: [{ en: 'Please wait.', es: 'Espere.' }] },
      update: { window: { from: '22:00', to: '05:00' } },
      owner: { publicKeyFiles: [] },
      screen: {
        enabled: true,
        port: 8080,
        layout: 'facing',
        viewingDistanceMm: 600,
        heightMm: 194,
        operator: 'Museo de la Ciudad',
        mask: true,
      },
      schedule: {
        timeZone: 'Europe/Berlin',
        open: [{ days: ['mon', 'tue'], from: '09:00', to: '18:00' }],
        closed: ['2026-12-25'],
      },
      budget: { minutesPerDay: null },
      service: { caFile: null, hosts: [] },
      audio: { unfixable: null },
      metrics: { listen: '127.0.0.1:9465' },
      log: { level: 'info' },
    };
    const [lane] = example.lanes;
    expect(configSchema.parse(example)).toEqual({
      ...example,
      lanes: [
        {
          ...lane,
          capture: { ...lane?.capture, gain: null },
          playback: { ...lane?.playback, also: null, normalize: true },
          headset: null,
          bargeIn: 'duck',
          earcons: null,
          twoWay: 'off',
          pushToTalk: false,
        },
      ],
      rooms: [],
      log: { ...example.log, journal: 'text' },
    });
  });

  it.each([
    [{ heightMm: 60 }, 'must be 76 or more: letters that are readable at 700 mm do not fit'],
    [{ layout: 'facing', heightMm: 110 }, 'must be 147 or more'],
    [{ layout: 'one', viewingDistanceMm: 2000 }, 'must be 217 or more'],
    [{ port: 0 }, '1'],
    [{ layout: 'wide' }, 'one'],
  ])('refuses the screen %j', (screen, message) => {
    const parsed = configSchema.safeParse({ ...SMALLEST, screen });
    expect(parsed.success ? '' : parsed.error.issues.map((issue) => issue.message).join()).toContain(message);
  });

  it('accepts a program or an add-on instead of a sound card', () => {
    const lane = {
      capture: { driver: 'command', command: ['pw-record', '-'] },
      playback: { driver: 'addon', device: 'plughw:CARD=Speaker' },
    };
    expect(configSchema.parse(withLane(lane)).lanes[0]).toMatchObject({
      capture: { driver: 'command', command: ['pw-record', '-'], sampleRate: 24_000 },
      playback: { driver: 'addon', device: 'plughw:CARD=Speaker', volume: 100 },
    });
  });

  it.each([
    'mqtts://h:8883',
    'wss://[::1]:443/mqtt',
    'wss://h/mqtt',
    'mqtt://127.0.0.1:1883',
    'mqtt://LocalHost',
    'ws://[::1]:80/mqtt',
  ])('accepts the broker %s', (url) => {
    expect(faults(withMqtt({ url }))).toEqual([]);
  });

  it.each([
    'mqtt://h',
    'ws://h/mqtt',
    'mqtt://10.0.0.1',
    'mqtt://127.0.0.1.evil.example',
    'mqtt://localhost@h',
  ])('accepts %s, which leaves this machine without TLS, only with allowInsecure', (url) => {
    expect(faults(withMqtt({ url }))).toEqual(['mqtt.url']);
    expect(faults(withMqtt({ url, allowInsecure: 'yes' }))).toContain('mqtt.allowInsecure');
    if (!url.includes('@')) expect(faults(withMqtt({ url, allowInsecure: true }))).toEqual([]);
  });

  it.each(['http://h', 'h:1883', 'mqtt://', 'mqtts://user:word@h', ''])('refuses the broker "%s"', (url) => {
    expect(faults(withMqtt({ url }))).toEqual(['mqtt.url']);
  });

  it.each(['auto', 5, 4])('accepts the version %j of MQTT', (version) => {
    expect(faults(withMqtt({ url: 'mqtts://h', version }))).toEqual([]);
  });

  it.each([3, '5', '3.1.1', null])(
    'refuses the version %j of MQTT, and names the allowed ones',
    (version) => {
      const parsed = configSchema.safeParse(withMqtt({ url: 'mqtts://h', version }));
      expect(parsed.error?.issues.map(({ path, message }) => [path.join('.'), message])).toEqual([
        ['mqtt.version', 'must be "auto", 5 or 4 (4 is MQTT 3.1.1)'],
      ]);
    },
  );

  it.each([
    ['a device id with capitals', withPart({ device: { id: 'Kiosk', tenant: 'm' } }), 'device.id'],
    ['a tenant with a topic level', withPart({ device: { id: 'k', tenant: 'a/b' } }), 'device.tenant'],
    ['a prefix with a wildcard', withMqtt({ prefix: 'a/#' }), 'mqtt.prefix'],
    ['a certificate without its key', withMqtt({ certFile: '/c' }), 'mqtt.keyFile'],
    ['a key without its certificate', withMqtt({ keyFile: '/k' }), 'mqtt.certFile'],
    ['a password without a user', withMqtt({ passwordFile: '/p' }), 'mqtt.username'],
    ['no lanes', withPart({ lanes: [] }), 'lanes'],
    [
      'a rate below the limit of the service',
      withLane({ capture: { driver: 'alsa', sampleRate: 15_999 } }),
      'lanes.0.capture.sampleRate',
    ],
    [
      'a rate above it',
      withLane({ capture: { driver: 'file', path: 'a', sampleRate: 48_001 } }),
      'lanes.0.capture.sampleRate',
    ],
    [
      'a fractional rate',
      withLane({ capture: { driver: 'alsa', sampleRate: 24_000.5 } }),
      'lanes.0.capture.sampleRate',
    ],
    ['a file capture without a path', withLane({ capture: { driver: 'file' } }), 'lanes.0.capture.path'],
    [
      'a volume above 100',
      withLane({ playback: { driver: 'alsa', volume: 101 } }),
      'lanes.0.playback.volume',
    ],
    ['an unknown driver', withLane({ playback: { driver: 'pulse' } }), 'lanes.0.playback.driver'],
    [
      'an empty command',
      withLane({ capture: { driver: 'command', command: [] } }),
      'lanes.0.capture.command',
    ],
    [
      'a command line as one text',
      withLane({ playback: { driver: 'command', command: 'x' } }),
      'lanes.0.playback.command',
    ],
    ['a rolloverLead that is too short', withLane({ rolloverLead: 9 }), 'lanes.0.rolloverLead'],
    [
      'a command without a delay',
      withPart({ audio: { unfixable: { command: ['x'], afterS: 1 } } }),
      'audio.unfixable.afterS',
    ],
    ['no target', withLane({ targets: [] }), 'lanes.0.targets'],
    ['a target twice', withLane({ targets: ['es', 'es'] }), 'lanes.0.targets'],
    ['a second device without a name', withLane({ playback: { also: '' } }), 'lanes.0.playback.also'],
    [
      'a headset without detection of its plug',
      withLane({ headset: { device: 'plughw:CARD=Headset' } }),
      'lanes.0.headset.detect',
    ],
    [
      'a jack control with a quotation mark',
      withLane({ headset: { device: 'plughw:CARD=Headset', detect: "Jack',index=1" } }),
      'lanes.0.headset.detect',
    ],
    [
      'a headset beside a recording',
      withLane({ playback: { driver: 'file', path: 'a' }, headset: { device: 'default', detect: 'Jack' } }),
      'lanes.0.headset',
    ],
    ['an unknown echo mode', withLane({ echo: 'on' }), 'lanes.0.echo'],
    ['an unknown start', withLane({ start: 'never' }), 'lanes.0.start'],
    ['a negative standby', withLane({ standbyAfter: -1 }), 'lanes.0.standbyAfter'],
    ['an unknown log level', withPart({ log: { level: 'loud' } }), 'log.level'],
  ])('refuses %s', (_what, value, path) => {
    expect(faults(value)).toEqual([path]);
  });

  it('refuses unknown keys at every level', () => {
    const value = { ...withLane({ capture: { driver: 'file', path: 'a', device: 'x' } }), extra: 1 };
    const issues = configSchema.safeParse(value).error?.issues ?? [];
    expect(issues.map((issue) => issue.code)).toEqual(['unrecognized_keys', 'unrecognized_keys']);
  });

  it('reports two lanes with the same id even when other keys are invalid', () => {
    const lane = SMALLEST.lanes[0];
    const value = withPart({ lanes: [{ ...lane, echo: 'x' }, lane, { ...lane, id: 'side' }] });
    expect(faults(value).sort()).toEqual(['lanes.0.echo', 'lanes.1.id']);
  });
});

describe('the keys of config/desired', () => {
  it('match the schema, key by key', () => {
    const lane = desiredSchema.shape.lanes.unwrap().element.shape;
    expect(Object.keys(lane).sort()).toEqual(['id', ...DESIRED_KEYS.lanes].sort());
    expect(Object.keys(desiredSchema.shape.log.unwrap().shape)).toEqual([...DESIRED_KEYS.log]);
    expect(Object.keys(desiredSchema.shape.update.unwrap().shape)).toEqual([...DESIRED_KEYS.update]);
    expect(Object.keys(desiredSchema.shape.budget.unwrap().shape)).toEqual([...DESIRED_KEYS.budget]);
    expect(Object.keys(desiredSchema.shape.help.unwrap().shape)).toEqual([...DESIRED_KEYS.help]);
    expect(Object.keys(desiredSchema.shape.screen.unwrap().shape)).toEqual([...DESIRED_KEYS.screen]);
    expect(Object.keys(desiredSchema.shape)).toEqual([
      'lanes',
      ...DESIRED_WHOLE,
      'budget',
      'help',
      'update',
      'log',
      'screen',
    ]);
  });

  it('have no defaults: a missing key changes nothing', () => {
    expect(desiredSchema.parse({ lanes: [{ echo: 'off' }] })).toEqual({ lanes: [{ echo: 'off' }] });
    expect(desiredSchema.parse({})).toEqual({});
  });

  it('do not include the sound devices', () => {
    expect(
      desiredSchema.safeParse({ lanes: [{ capture: { driver: 'file', path: '/etc/shadow' } }] }).success,
    ).toBe(false);
  });
});
