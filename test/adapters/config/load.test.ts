import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { formatProblem, formatSource } from '../../../src/adapters/config/layer.ts';
import { type LoadOptions, loadConfig } from '../../../src/adapters/config/load.ts';
import { type Config, configSchema } from '../../../src/protocol/config.ts';

const BASE = {
  device: { id: 'kiosk-01', tenant: 'museum' },
  mqtt: { url: 'mqtts://broker.example' },
  lanes: [{ source: 'en', targets: ['es'] }],
};

/** Two lanes must not share a card. */
const devices = (card: string) => ({
  capture: { device: `plughw:CARD=${card}` },
  playback: { device: `plughw:CARD=${card}` },
});

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'dragoman-config-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

/** Writes files by name; objects become JSON. */
function write(files: Record<string, string | object>): void {
  for (const [name, content] of Object.entries(files)) {
    mkdirSync(join(folder, name, '..'), { recursive: true });
    writeFileSync(join(folder, name), typeof content === 'string' ? content : JSON.stringify(content));
  }
}

const load = (options: Partial<LoadOptions> = {}) =>
  loadConfig({ file: join(folder, 'config.json'), env: {}, ...options });

function effective(options: Partial<LoadOptions> = {}): Config {
  const result = load(options);
  if (!result.ok) throw new Error(result.problems.map(formatProblem).join('\n'));
  return result.config;
}

/** The problems as an operator sees them, without the folder. */
function problems(options: Partial<LoadOptions> = {}): string[] {
  const result = load(options);
  return result.ok
    ? []
    : result.problems.map((problem) => formatProblem(problem).replaceAll(`${folder}/`, ''));
}

describe('the layers of the configuration', () => {
  it('are merged, and later ones take precedence', () => {
    write({
      'config.json': {
        ...BASE,
        log: { level: 'debug' },
        mqtt: { ...BASE.mqtt, prefix: 'file/v1', username: 'file' },
      },
      'conf.d/20.json': { log: { level: 'warn' } },
      'conf.d/10.json': { log: { level: 'trace' }, mqtt: { prefix: 'ten/v1' } },
      'conf.d/ignored.txt': 'not JSON at all',
    });
    const config = effective();
    expect(config.log.level).toBe('warn');
    expect(config.mqtt.prefix).toBe('ten/v1');
    expect(config.mqtt.username).toBe('file');
    expect(effective({ env: { DRAGOMAN_LOG_LEVEL: 'error' } }).log.level).toBe('error');
  });

  it('exclude files of conf.d with a leading dot: editor locks, macOS companions, hidden files', () => {
    const others = Object.fromEntries(
      Array.from({ length: 64 }, (_, index) => [`conf.d/.${index}.json`, '']),
    );
    write({
      'config.json': BASE,
      ...others,
      'conf.d/a.json': { log: { level: 'warn' } },
      'conf.d/._a.json': '\0\u0005\u0016\u0007',
      'conf.d/.hidden.json': { log: { level: 'trace' } },
    });
    symlinkSync('somebody@desk.4711', join(folder, 'conf.d', '.#a.json'));
    expect(effective().log.level).toBe('warn');
  });

  it('record the source of each value', () => {
    write({
      'config.json': `{
  // The door
  "device": { "id": "kiosk-01", "tenant": "museum" },
  "mqtt": { "url": "mqtts://broker.example" },
  "lanes": [{ "source": "en", "targets": ["es"] }],
}`,
      'conf.d/volume.json': { lanes: [{ id: 'main', playback: { volume: 40 } }] },
    });
    const result = load({ env: { DRAGOMAN_LOG_LEVEL: 'warn' } });
    const sources = result.ok ? result.provenance : [];
    const of = (path: string) => {
      const found = sources.find((value) => value.path === path);
      return found && [found.value, found.source.kind, formatSource(found.source).replace(`${folder}/`, '')];
    };
    expect(of('device.tenant')).toEqual(['museum', 'file', 'config.json:3:33']);
    expect(of('mqtt.prefix')).toEqual(['dragoman/v1', 'default', 'default']);
    expect(of('lanes[0].playback.volume')).toEqual([40, 'conf.d', 'conf.d/volume.json:1:36']);
    expect(of('log.level')).toEqual(['warn', 'environment', 'DRAGOMAN_LOG_LEVEL']);
  });

  it('merge lanes by id, or by index when a lane has none', () => {
    write({
      'config.json': {
        ...BASE,
        lanes: [
          { id: 'in', source: 'en', targets: ['es'], ...devices('A') },
          { id: 'out', source: 'es', targets: ['en'], ...devices('B') },
        ],
      },
      'conf.d/1.json': {
        lanes: [
          { id: 'out', echo: 'off' },
          { id: 'new', source: 'de', targets: ['fr'], ...devices('C') },
        ],
      },
      'conf.d/2.json': { lanes: [{ voice: 'default_low' }] },
    });
    const lanes = effective({ env: { DRAGOMAN_LANES_2_START: 'voice' } }).lanes;
    expect(lanes.map(({ id, echo, voice, start }) => [id, echo, voice, start])).toEqual([
      ['in', 'half-duplex', 'default_low', 'boot'],
      ['out', 'off', null, 'boot'],
      ['new', 'half-duplex', null, 'voice'],
    ]);
  });

  it('find a lane without an id under its default id', () => {
    write({ 'config.json': BASE, 'conf.d/echo.json': { lanes: [{ id: 'main', echo: 'off' }] } });
    const lanes = effective().lanes;
    expect(lanes.map(({ id, echo }) => [id, echo])).toEqual([['main', 'off']]);
  });

  it('start an empty capture when its driver changes', () => {
    const lane = { ...BASE.lanes[0], capture: { driver: 'alsa', device: 'plughw:CARD=Mic' } };
    write({ 'config.json': { ...BASE, lanes: [lane] } });
    const env = { DRAGOMAN_LANES_0_CAPTURE_DRIVER: 'file', DRAGOMAN_LANES_0_CAPTURE_PATH: 'in.wav' };
    expect(effective({ env }).lanes[0]?.capture).toEqual({
      driver: 'file',
      path: 'in.wav',
      loop: false,
      sampleRate: 24_000,
    });
  });

  it('keep the keys of the default driver, named or not', () => {
    const lane = { ...BASE.lanes[0], capture: { device: 'plughw:CARD=Mic' } };
    write({ 'config.json': { ...BASE, lanes: [lane] } });
    const env = { DRAGOMAN_LANES_0_CAPTURE_DRIVER: 'alsa', DRAGOMAN_LANES_0_CAPTURE_SAMPLE_RATE: '16000' };
    expect(effective({ env }).lanes[0]?.capture).toEqual({
      driver: 'alsa',
      device: 'plughw:CARD=Mic',
      gain: null,
      sampleRate: 16_000,
    });
  });

  it('work without any file', () => {
    const env = {
      DRAGOMAN_DEVICE_ID: 'kiosk-01',
      DRAGOMAN_DEVICE_TENANT: 'museum',
      DRAGOMAN_MQTT_URL: 'mqtts://broker.example',
      DRAGOMAN_LANES_0_SOURCE: 'en',
      DRAGOMAN_LANES_0_TARGETS: 'es',
    };
    write({ 'config.json': BASE });
    expect(effective({ file: null, env })).toEqual(effective());
  });
});

describe('the problems of a configuration', () => {
  it('are listed all at once, each with its place, its key, the value and what is allowed', () => {
    write({
      'config.json': `{
  "device": { "id": "Kiosk" },
  "mqtt": { "url": "mqtts://broker.example", "sampleRate": 16000 },
  "lanes": [{ "source": "en", "targets": ["es"], "echo": "half", "voise": null,
    "capture": { "driver": "file", "path": "in.wav", "sampleRate": "24k" } }]
}`,
      'conf.d/log.json': '{ "log": { "level": "info" },\n "x": true }',
    });
    const env = {
      DRAGOMAN_LANES_0_STANDBY_AFTER: '-1',
      DRAGOMAN_MQT_URL: 'x',
      DRAGOMAN_ZZZ: 'x',
      DRAGOMAN_DEBUG: '1',
    };
    expect(problems({ env }).sort()).toEqual(
      [
        'DRAGOMAN_MQT_URL: no key of the configuration has this variable; did you mean DRAGOMAN_MQTT_URL?',
        'DRAGOMAN_ZZZ: no key of the configuration has this variable',
        'DRAGOMAN_LANES_0_STANDBY_AFTER: lanes[0].standbyAfter: is -1; must be a number from 0 to 86400',
        `conf.d/log.json:2:2: x: is not a known key; allowed here: ${Object.keys(configSchema.shape).join(', ')}`,
        'config.json:2:15: device.id: is "Kiosk"; must be 1 to 64 of the characters a-z, 0-9 and "-"',
        'config.json:2:3: device.tenant: is missing: must be a text (Owner of the device.)',
        'config.json:3:46: mqtt.sampleRate: is not a known key; did you mean "lanes[].capture.sampleRate"?',
        'config.json:4:50: lanes[0].echo: is "half"; must be one of "half-duplex", "cancel", "off"; did you mean "half-duplex"?',
        'config.json:4:66: lanes[0].voise: is not a known key; did you mean "voice"?',
        'config.json:5:54: lanes[0].capture.sampleRate: is "24k"; must be a whole number from 16000 to 48000',
      ].sort(),
    );
  });

  it.each([
    ['mqtt', 'pasword', 'passwordFile'],
    ['mqtt', 'password', 'passwordFile'],
    ['mqtt', 'usrname', 'username'],
    ['device', 'lable', 'label'],
  ])('suggest in %s for "%s" the key "%s"', (part, key, meant) => {
    write({ 'config.json': { ...BASE, [part]: { ...BASE[part as 'mqtt'], [key]: 'x' } } });
    expect(problems().join()).toMatch(
      new RegExp(`${part}.${key}: is not a known key; did you mean "${meant}"`),
    );
  });

  it('suggest nothing when no key is close', () => {
    write({ 'config.json': { ...BASE, mqtt: { ...BASE.mqtt, purple: 1, cab: 1 } } });
    expect(problems().join()).not.toContain('did you mean');
  });

  it('call an empty list empty', () => {
    write({ 'config.json': { ...BASE, lanes: [{ ...BASE.lanes[0], targets: [] }] } });
    expect(problems().join()).toContain('lanes[0].targets: is an empty list; must be a list of 1 to 8');
  });

  it('include a key that belongs to another driver', () => {
    const lane = {
      ...BASE.lanes[0],
      capture: { path: 'in.wav' },
      playback: { driver: 'file', path: 'a', devise: 1 },
    };
    write({ 'config.json': { ...BASE, lanes: [lane] } });
    expect(problems().map((line) => line.replace(/^config.json:\d+:\d+: /, ''))).toEqual([
      'lanes[0].capture.path: is a key of another driver; it needs "driver": "file"',
      'lanes[0].playback.devise: is not a known key; allowed here: driver, path, overwrite, maxMinutes, volume, normalize',
    ]);
  });

  it('name the file, line and column of a syntax error, and do not call all its keys missing', () => {
    write({ 'config.json': '{\n  "device" {}\n}', 'conf.d/a.json': '[', 'conf.d/b.json': '{"log":{}}' });
    expect(problems()).toEqual([
      'config.json:2:12: expected ":" after the key "device", but found "{"',
      'conf.d/a.json:1:2: expected a value, but the file ends',
    ]);
  });

  it('name a file that cannot be read', () => {
    expect(problems()).toEqual(['config.json: cannot be read: there is no such file or folder']);
    mkdirSync(join(folder, 'config.json'));
    expect(problems()).toEqual(['config.json: cannot be read: it is a folder']);
  });

  it.each(['[]', '4', '"text"', 'null'])('include %s as a whole configuration', (text) => {
    write({ 'config.json': text });
    expect(problems().length).toBeGreaterThan(0);
  });

  it('never show a possible secret', () => {
    const secret = 'hunter2-hunter2';
    write({
      'config.json': {
        ...BASE,
        mqtt: { url: `mqtt://kiosk:${secret}@broker.example`, password: secret, prefix: `#token=${secret}` },
      },
    });
    const env = { DRAGOMAN_MQTT_PASSWORD: secret, DRAGOMAN_API_KEY: secret };
    const found = problems({ env });
    expect(found).toHaveLength(5);
    expect(found.join('\n')).not.toContain('hunter2');
  });

  it('include a gap in the list of lanes', () => {
    write({ 'config.json': BASE });
    expect(problems({ env: { DRAGOMAN_LANES_2_SOURCE: 'en' } })).toEqual([
      'DRAGOMAN_LANES_2_SOURCE: lanes[2]: there is no lane 1 before it: lanes are counted from 0',
    ]);
  });
});

describe('environment variables', () => {
  it('are converted to the type of their key', () => {
    write({ 'config.json': { ...BASE, mqtt: { ...BASE.mqtt, username: 'x' } } });
    const config = effective({
      env: {
        DRAGOMAN_MQTT_USERNAME: '',
        DRAGOMAN_DEVICE_ID: '007',
        DRAGOMAN_LANES_0_CAPTURE_DRIVER: 'file',
        DRAGOMAN_LANES_0_CAPTURE_PATH: '1',
        DRAGOMAN_LANES_0_CAPTURE_LOOP: 'true',
        DRAGOMAN_LANES_0_CAPTURE_SAMPLE_RATE: '16000',
        DRAGOMAN_LANES_0_TARGETS: 'es, fr',
        DRAGOMAN_LANES_1_ID: 'side',
        DRAGOMAN_LANES_1_PLAYBACK_DEVICE: 'plughw:CARD=Side',
        DRAGOMAN_LANES_1_SOURCE: 'de',
        DRAGOMAN_LANES_1_TARGETS: '["pt-br"]',
        HOME: '/root',
      },
    });
    expect(config.mqtt.username).toBeNull();
    expect(config.device.id).toBe('007');
    expect(config.lanes[0]?.capture).toEqual({ driver: 'file', path: '1', loop: true, sampleRate: 16_000 });
    expect(config.lanes.map(({ targets }) => targets)).toEqual([['es', 'fr'], ['pt-br']]);
  });

  it('are refused when they do not fit the type', () => {
    write({ 'config.json': BASE });
    const env = {
      DRAGOMAN_LANES_0_CAPTURE_DRIVER: 'file',
      DRAGOMAN_LANES_0_CAPTURE_PATH: 'a',
      DRAGOMAN_LANES_0_CAPTURE_LOOP: 'yes',
      DRAGOMAN_LANES_0_CAPTURE_SAMPLE_RATE: '24e3',
      DRAGOMAN_LANES_0_TARGETS: '[es]',
      DRAGOMAN_LANES_0_ECHO: '',
    };
    expect(
      problems({ env })
        .map((line) => line.split(':')[0])
        .sort(),
    ).toEqual([
      'DRAGOMAN_LANES_0_CAPTURE_LOOP',
      'DRAGOMAN_LANES_0_CAPTURE_SAMPLE_RATE',
      'DRAGOMAN_LANES_0_ECHO',
      'DRAGOMAN_LANES_0_TARGETS',
    ]);
  });
});
