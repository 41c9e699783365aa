import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { withPlaces } from '../../../src/adapters/config/file-places.ts';
import { loadConfig } from '../../../src/adapters/config/load.ts';
import { loadBackendConfig } from '../../../src/backend/config/load-config.ts';
import { needs } from '../../needs.ts';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'dragoman-places-'));
  for (const name of ['etc/secrets', 'etc/keys', 'credentials'])
    mkdirSync(join(folder, name), { recursive: true });
});
afterEach(() => rmSync(folder, { recursive: true }));

const at = (name: string): string => join(folder, name);
const put = (name: string, text = ''): string => {
  writeFileSync(at(name), text, { mode: 0o600 });
  return at(name);
};
const placeOf = (name: string, env = {}): string =>
  withPlaces({ mqtt: { keyFile: name } }, at('etc/config.json'), env).mqtt.keyFile;

it('finds a file in the credentials folder, then beside the configuration, then in secrets there', () => {
  const env = { CREDENTIALS_DIRECTORY: at('credentials') };
  expect(placeOf('mqtt.key', env)).toBe('mqtt.key');
  const secret = put('etc/secrets/mqtt.key');
  expect(placeOf('mqtt.key', env)).toBe(secret);
  const beside = put('etc/mqtt.key');
  expect(placeOf('mqtt.key', env)).toBe(beside);
  const credential = put('credentials/mqtt.key');
  expect(placeOf('mqtt.key', env)).toBe(credential);
  expect(placeOf('./mqtt.key', env)).toBe(beside);
  expect(placeOf('/elsewhere/mqtt.key', env)).toBe('/elsewhere/mqtt.key');
});

it('finds the folder of the phrases beside the configuration', () => {
  const phrases = { folder: 'keys', list: [{ en: 'folder' }] };
  expect(withPlaces({ phrases }, at('etc/config.json'), {})).toEqual({
    phrases: { folder: at('etc/keys'), list: [{ en: 'folder' }] },
  });
});

it('finds files in folders below the configuration, and each file of a list', () => {
  const first = put('etc/keys/first.pem');
  const named = {
    owner: { publicKeyFiles: ['keys/first.pem', 'keys/second.pem'] },
    lanes: [{ path: 'first.pem' }],
  };
  expect(withPlaces(named, at('etc/config.json'), {})).toEqual({
    owner: { publicKeyFiles: [first, 'keys/second.pem'] },
    lanes: [{ path: 'first.pem' }],
  });
});

it(
  'names the place of a file that this user may not see',
  needs(process.getuid?.() === 0 && 'root may read every file'),
  () => {
    const secret = put('etc/secrets/mqtt.key');
    chmodSync(at('etc/secrets'), 0o000);
    try {
      expect(placeOf('mqtt.key')).toBe(secret);
    } finally {
      chmodSync(at('etc/secrets'), 0o700);
    }
  },
);

it('holds for the configurations of the device and of the backend', () => {
  const password = put('etc/secrets/mqtt-password', 'secret');
  const ca = put('etc/broker-ca.crt');
  const mqtt = {
    url: 'mqtts://broker.example',
    username: 'kiosk',
    passwordFile: 'mqtt-password',
    caFile: 'broker-ca.crt',
  };
  const lanes = [{ source: 'en', targets: ['es'] }];
  const device = put(
    'etc/config.json',
    JSON.stringify({ device: { id: 'kiosk-01', tenant: 'museum' }, mqtt, lanes }),
  );
  expect(loadConfig({ file: device, env: {} })).toMatchObject({
    config: { mqtt: { passwordFile: password, caFile: ca } },
  });
  const service = { url: 'https://api.example', streamUrl: 'wss://stream.example' };
  const backend = put('etc/backend.json', JSON.stringify({ mqtt, service, allow: ['museum/*'] }));
  expect(loadBackendConfig(backend, {}).mqtt).toMatchObject({ passwordFile: password, caFile: ca });
});

it("starts the backend's store and releases at the folder of its configuration", () => {
  const mqtt = { url: 'mqtts://broker.example' };
  const service = { url: 'https://api.example', streamUrl: 'wss://stream.example' };
  const pathsWith = (store: object) => {
    const releases = { path: 'apt', listen: '127.0.0.1:0' };
    const content = JSON.stringify({ mqtt, service, allow: ['museum/*'], store, releases });
    const config = loadBackendConfig(put('etc/backend.json', content), {});
    return [config.store.path, config.releases.path];
  };
  expect(pathsWith({ path: 'data/store.db' })).toEqual([at('etc/data/store.db'), at('etc/apt')]);
  expect(pathsWith({ path: '/srv/store.db' })).toEqual(['/srv/store.db', at('etc/apt')]);
  expect(pathsWith({})).toEqual([':memory:', at('etc/apt')]);
});
