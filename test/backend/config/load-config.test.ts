import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { backendWarnings } from '../../../src/backend/config/config-warnings.ts';
import {
  backendVariables,
  ConfigProblems,
  loadBackendConfig,
  readBackendSecrets,
} from '../../../src/backend/config/load-config.ts';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'dragoman-backend-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const minimal = {
  mqtt: { url: 'mqtts://broker.example' },
  service: { url: 'https://api.example/', streamUrl: 'wss://stream.example/{random_hash}/stream' },
  allow: ['museum/*'],
};
function write(name: string, content: unknown, mode = 0o600): string {
  const file = join(folder, name);
  const isWritten = typeof content === 'string' || Buffer.isBuffer(content);
  writeFileSync(file, isWritten ? content : JSON.stringify(content));
  chmodSync(file, mode);
  return file;
}
function problemsOf(work: () => unknown): readonly string[] {
  try {
    work();
  } catch (error) {
    if (error instanceof ConfigProblems) return error.problems;
    throw error;
  }
  throw new Error('there was no problem');
}

describe("backend's configuration", () => {
  it('fills in safe defaults', () => {
    const config = loadBackendConfig(write('c.json', minimal), {});
    expect(config.limits).toMatchObject({
      lanes: 2,
      sessionsAtOnce: 3,
      sessionsPerHour: 60,
      createsPerSecond: 5,
      pendingSessions: 200,
    });
    expect(config.session).toEqual({
      expiresInSeconds: 60,
      singleUse: true,
      maxSessionDurationSeconds: 1800,
      intents: ['s2s'],
      connectionTypes: ['ws'],
    });
    expect(config.service.url).toBe('https://api.example');
    expect(config.mqtt).toMatchObject({ prefix: 'dragoman/v1', clientId: null });
  });

  it('prefers variables to the file, and reads each by its type', () => {
    const config = loadBackendConfig(write('c.json', `// a comment\n${JSON.stringify(minimal)}`), {
      DRAGOMAN_BACKEND_MQTT_URL: 'mqtts://other.example',
      DRAGOMAN_BACKEND_SESSION_SINGLE_USE: 'false',
      DRAGOMAN_BACKEND_SESSION_EXPIRES_IN_SECONDS: '120',
      DRAGOMAN_BACKEND_SESSION_MAX_SESSION_DURATION_SECONDS: '',
      DRAGOMAN_BACKEND_ALLOW: 'a/b, c/*',
      DRAGOMAN_BACKEND_SERVICE_API_KEY_FILE: '/run/key',
      DRAGOMAN_DEBUG: '1',
      DRAGOMAN_MQTT_URL: "the device's",
    });
    expect(config).toMatchObject({
      mqtt: { url: 'mqtts://other.example' },
      session: { singleUse: false, expiresInSeconds: 120, maxSessionDurationSeconds: null },
      allow: ['a/b', 'c/*'],
      service: { apiKeyFile: '/run/key' },
    });
  });

  it('runs from variables alone', () => {
    const config = loadBackendConfig(null, {
      DRAGOMAN_BACKEND_MQTT_URL: 'mqtts://broker.example',
      DRAGOMAN_BACKEND_SERVICE_URL: 'http://127.0.0.1:1',
      DRAGOMAN_BACKEND_SERVICE_STREAM_URL: 'ws://127.0.0.1:1/{random_hash}/x',
      DRAGOMAN_BACKEND_ALLOW: '*/*',
    });
    expect(config.allow).toEqual(['*/*']);
  });

  it('has a variable for every key except the exceptions by device', () => {
    const names = [...backendVariables().keys()];
    expect(names).toContain('DRAGOMAN_BACKEND_MQTT_PASSWORD_FILE');
    expect(names).toContain('DRAGOMAN_BACKEND_LIMITS_PER_MINUTE');
    expect(names.filter((name) => name.includes('DEVICES'))).toEqual([]);
  });

  it('refuses unencrypted connections to other machines unless they are allowed', () => {
    const loaded = (service: object, mqtt: object = {}) =>
      loadBackendConfig(
        write('clear.json', {
          ...minimal,
          service: { ...minimal.service, ...service },
          mqtt: { ...minimal.mqtt, ...mqtt },
        }),
        {},
      );
    const http = { url: 'http://api.example' };
    const clear = { url: 'mqtt://broker.example' };
    expect(problemsOf(() => loaded(http)).join()).toMatch(
      /service\.url: is "http:\/\/api\.example"; must be https:.*allowInsecure/,
    );
    expect(problemsOf(() => loaded({}, clear)).join()).toMatch(
      /mqtt\.url: is "mqtt:\/\/broker\.example"; must be mqtts:.*allowInsecure/,
    );
    expect(problemsOf(() => loaded({ streamUrl: 'ws://stream.example/s' })).join()).toMatch(
      /service\.streamUrl: is "ws:.*"; must be wss:/,
    );
    expect(loaded({ url: 'http://127.0.0.1:1' }, { url: 'mqtt://localhost' })).toBeDefined();
    expect(backendWarnings(loaded({}))).toEqual([
      expect.stringContaining('store.path is not set'),
      expect.stringContaining('signingKeyFile is not set'),
    ]);
    const open = loaded({ ...http, allowInsecure: true }, { ...clear, allowInsecure: true });
    expect(backendWarnings(open)).toEqual([
      expect.stringContaining('mqtt.url leaves this machine unencrypted'),
      expect.stringContaining('service.url leaves this machine unencrypted'),
      expect.stringContaining('store.path'),
      expect.stringContaining('signingKeyFile'),
    ]);
  });

  it('warns when a proxy decides at which names the console answers', () => {
    const warningsOf = (hosts: string[], listen: string | null = '127.0.0.1:8443') => {
      const store = { path: join(folder, 'store.db') };
      const page = { listen, trustedProxies: ['127.0.0.1'], hosts };
      const file = write('proxied.json', { ...minimal, store, console: page });
      return backendWarnings(loadBackendConfig(file, {})).filter((text) => text.includes('console.hosts'));
    };
    expect(warningsOf([])).toEqual([expect.stringContaining('any name that a proxy passes on')]);
    expect(warningsOf([], null)).toEqual([]);
    expect(warningsOf(['kiosks.example'])).toEqual([]);
    expect(() => warningsOf(['https://kiosks.example'])).toThrow(/console\.hosts\[0\]: .*must be a name/);
    expect(() => warningsOf(['kiosks.example:8443'])).toThrow(/console\.hosts\[0\]: .*must be a name/);
  });

  it('warns when the limits are below the need of the lanes', () => {
    const file = write('c.json', { ...minimal, session: { maxSessionDurationSeconds: 60 } });
    expect(backendWarnings(loadBackendConfig(file, {}))).toContainEqual(
      expect.stringMatching(/2 lanes with sessions of 60 s need 190/),
    );
  });

  it('lists every problem at once, with the key and a suggestion', () => {
    const file = write('c.json', {
      ...minimal,
      sesion: {},
      service: { ...minimal.service, url: 'ftp://x', streamUrl: 'wss://s/x?token=abc', apiKeyfile: 'x' },
      session: { expiresInSeconds: 10 },
      allow: ['Museum'],
      devices: { kiosk: {}, 'museum/kiosk': { session: { expireInSeconds: 90 } } },
    });
    const problems = problemsOf(() => loadBackendConfig(file, { DRAGOMAN_BACKEND_MQTT_ULR: 'x' })).join('\n');
    for (const words of [
      /MQTT_ULR; did you mean DRAGOMAN_BACKEND_MQTT_URL\?/,
      /sesion: is not a known key; did you mean "session"\?/,
      /service\.url: is "ftp:\/\/x"; must be an address/,
      /service\.streamUrl: must not contain a token/,
      /service\.apiKeyfile: is not a known key; did you mean "apiKeyFile"\?/,
      /session\.expiresInSeconds: is 10; must be 60 or more/,
      /allow\[0\]: is "Museum"; must be "tenant\/device"/,
      /devices\.kiosk: must be "tenant\/device"/,
      /devices\.museum\/kiosk\.session\.expireInSeconds: is not a known key; did you mean "expiresInSeconds"/,
    ]) {
      expect(problems).toMatch(words);
    }
    expect(problems).not.toContain('abc');
  });

  it('names line and column in the file, or the variable', () => {
    const text =
      '{\n  "mqtt": { "url": "mqtts://broker.example" },\n  "service": {\n    "url": "ftp://x",\n    "streamUrl": "wss://s/x"\n  },\n  "allow": ["museum/*", "*"],\n  "sesion": {}\n}\n';
    const file = write('lines.json', text);
    const problems = problemsOf(() => loadBackendConfig(file, { DRAGOMAN_BACKEND_LIMITS_LANES: '99' }));
    expect(problems.map((problem) => problem.replace(folder, ''))).toEqual([
      expect.stringMatching(/^\/lines\.json:4:5: service\.url: is "ftp:\/\/x"; must be /),
      expect.stringMatching(/^\/lines\.json:7:25: allow\[1\]: is "\*"; must be /),
      'DRAGOMAN_BACKEND_LIMITS_LANES: limits.lanes: is 99; must be 16 or less',
      expect.stringMatching(/^\/lines\.json:8:3: sesion: is not a known key/),
    ]);
    const missing = write('missing.json', '{\n  "mqtt": {}, "service": {\n} }');
    expect(problemsOf(() => loadBackendConfig(missing, {}))).toContain(
      `${missing}:2:3: mqtt.url: is missing`,
    );
  });

  it('shows no value that may be a secret', () => {
    const file = write('secret.json', { ...minimal, signingKeyFile: 7, webhook: { secretFile: 1234567 } });
    const said = problemsOf(() => loadBackendConfig(file, {})).join('\n');
    expect(said).not.toContain('1234567');
  });

  it.each([
    [
      'wss://stream.example/s\r\nx: y',
      /service\.streamUrl: is "wss:.*"; must not contain a blank or a control character/,
    ],
    [
      'wss://stream.exa\tmple/s',
      /service\.streamUrl: is "wss:.*"; must not contain a blank or a control character/,
    ],
    ['wss://user:hunter2@stream.example/s', /service\.streamUrl: must not contain a user name or a password/],
  ])('refuses the stream address %j at the start, without printing its secrets', (streamUrl, problem) => {
    const file = write('c.json', { ...minimal, service: { ...minimal.service, streamUrl } });
    const said = problemsOf(() => loadBackendConfig(file, {})).join();
    expect(said).toMatch(problem);
    expect(said).not.toContain('hunter2');
  });

  it('refuses a stream address with "#" at the start', () => {
    const service = { ...minimal.service, streamUrl: 'wss://stream.example/{random_hash}/s#x' };
    const file = write('c.json', { ...minimal, service });
    expect(problemsOf(() => loadBackendConfig(file, {})).join()).toMatch(
      /service\.streamUrl: is "wss:.*"; must not contain "#".*remove it/,
    );
  });

  it.each([
    [
      'a missing file',
      () => join(folder, 'none.json'),
      /none\.json: cannot be read: there is no such file or folder/,
    ],
    ['broken JSON', () => write('c.json', '{"mqtt": {'), /c\.json:1:11: /],
    ['no object', () => write('c.json', '[]'), /object/],
    ['an endless device file', () => '/dev/zero', /zero: cannot be read: it is not a regular file$/],
    ['a file that is too large', () => write('c.json', ' '.repeat(1_000_001)), /it is larger than 1 MB/],
    [
      'UTF-16',
      () => write('c.json', Buffer.from('\uFEFF{}', 'utf16le')),
      /c\.json: cannot be read: it is UTF-16\. Save it again as UTF-8/,
    ],
    [
      'Latin-1',
      () => write('c.json', Buffer.from('{\n// für alle\n}', 'latin1')),
      /c\.json: cannot be read: its line 2 holds letters in another encoding than UTF-8\. Save it again/,
    ],
    [
      'port 0',
      () => write('c.json', '{"service":{"url":"http://127.0.0.1:0"}}'),
      /service\.url: is "http:\/\/127\.0\.0\.1:0"; must be/,
    ],
    [
      'a reserved device',
      () => write('c.json', '{"devices":{"museum/backend":{}}}'),
      /devices\.museum\/backend: must be/,
    ],
  ])('names the problem of %s', (_name, file, words) => {
    expect(problemsOf(() => loadBackendConfig(file(), {})).join('\n')).toMatch(words);
  });
});

it('lists only the first hundred of 20,000 unknown keys', () => {
  const keys = Array.from({ length: 20_000 }, (_, index) => `"key${index}": 1`).join(',');
  const problems = problemsOf(() => loadBackendConfig(write('c.json', `{${keys}}`), {}));
  expect(problems).toHaveLength(101);
  expect(problems.at(-1)).toContain('more problems');
});

describe("backend's secrets", () => {
  const load = (service: object, mqtt: object = {}) =>
    loadBackendConfig(
      write('c.json', {
        ...minimal,
        service: { ...minimal.service, ...service },
        mqtt: { ...minimal.mqtt, ...mqtt },
      }),
      {},
    );

  it('reads keys from files at each use, so that they can change', () => {
    const file = write('key', 'first\n');
    const secrets = readBackendSecrets(load({ apiKeyFile: file }), {});
    expect(secrets.apiKey()).toBe('first');
    write('key', 'second');
    expect(secrets.apiKey()).toBe('second');
    rmSync(file);
    expect(() => secrets.apiKey()).toThrow(/service\.apiKeyFile: .* does not exist/);
  });

  it('finds systemd credentials by their name', () => {
    write('api-key', 'from-systemd');
    const secrets = readBackendSecrets(load({ apiKeyFile: 'api-key' }), { CREDENTIALS_DIRECTORY: folder });
    expect(secrets.apiKey()).toBe('from-systemd');
  });

  it('drops a byte order mark, and warns about a blank at the end of a password', () => {
    const passwordFile = write('password', '\ufeffswordfish \n');
    const config = load({ apiKeyFile: write('key', '\ufeffkey\n') }, { username: 'b', passwordFile });
    const secrets = readBackendSecrets(config, {});
    expect([secrets.apiKey(), secrets.mqttPassword?.()]).toEqual(['key', 'swordfish ']);
    expect(secrets.warnings).toEqual([
      `mqtt.passwordFile names ${passwordFile}: the secret in it ends with a blank, which is sent with it.`,
    ]);
  });

  it('refuses a key file that all users can read, and names all unusable files', () => {
    const open = write('open', 'for all to see', 0o644);
    const config = load(
      { apiKeyFile: open, jwtFile: join(folder, 'no-jwt') },
      { caFile: join(folder, 'no-ca'), username: 'b', passwordFile: join(folder, 'no-password') },
    );
    const problems = problemsOf(() => readBackendSecrets(config, {}));
    expect(problems).toHaveLength(4);
    expect(problems.join('\n')).toMatch(/service\.apiKeyFile: .*readable by everyone/);
    expect(problems.join('\n')).not.toContain('for all to see');
  });
});
