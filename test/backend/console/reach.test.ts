/** How people and the broker reach the console: TLS, and the rights of `broker init`. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { fileOf } from '../../../src/adapters/console/console-files.ts';
import { createLogger } from '../../../src/adapters/log.ts';
import { createAuthority, issueCertificate } from '../../../src/backend/broker/authority.ts';
import { loadBackendConfig, readBackendSecrets } from '../../../src/backend/config/load-config.ts';
import { type Backend, startBackend } from '../../../src/backend/daemon/backend.ts';
import { openConsoleStore } from '../../../src/backend/store/open-store.ts';
import { findMosquitto, findOpenssl } from '../../adapters/mqtt/mosquitto.ts';
import { needs } from '../../needs.ts';
import { type SetUp, setUpBroker } from '../broker/set-up-broker.ts';
import { PASSWORD, PASSWORD_HASH, PREFIX } from './console-on-loopback.ts';
import { signInByTls } from './sign-in-by-tls.ts';

let folder: string;
let backend: Backend | null = null;
let broker: SetUp | null = null;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'dragoman-reach-'));
});
afterEach(async () => {
  await backend?.close();
  await broker?.close();
  [backend, broker] = [null, null];
  rmSync(folder, { recursive: true, force: true });
});

async function start(more: object) {
  const file = join(folder, 'backend.json');
  const base = {
    mqtt: { url: 'mqtt://127.0.0.1:9' },
    service: { url: 'http://127.0.0.1:9', streamUrl: 'wss://stream.example/x' },
    allow: ['museum/*'],
    store: { path: join(folder, 'store.db') },
  };
  writeFileSync(file, JSON.stringify({ ...base, ...more }));
  const config = loadBackendConfig(file, {});
  const lines: string[] = [];
  const log = createLogger({ level: 'info', format: 'json', sink: { write: (line) => lines.push(line) } });
  const people = openConsoleStore(config.store);
  await people.addPerson({ name: 'ann', role: 'administrator', passwordHash: PASSWORD_HASH });
  await people.close();
  const secrets = { ...readBackendSecrets(config, {}), apiKey: () => 'an account key' };
  const consoleFiles = new Map([['console.js', fileOf('"page";', 'text/javascript')]]);
  backend = await startBackend({ config, log, secrets, consoleFiles });
  return { url: backend.consoleAt ?? '', lines };
}

describe('the console', needs(!findOpenssl() && 'needs openssl'), () => {
  it('is served with its own certificate, and refuses a key of another one', async () => {
    const authority = createAuthority('test authority');
    const pair = issueCertificate(authority, { usage: 'server', name: '127.0.0.1', days: 30 });
    const other = issueCertificate(authority, { usage: 'server', name: '127.0.0.1', days: 30 });
    const tls = { certFile: join(folder, 'console.crt'), keyFile: join(folder, 'console.key') };
    writeFileSync(tls.certFile, pair.certificate);
    writeFileSync(tls.keyFile, other.key, { mode: 0o600 });
    const wrong = start({ console: { listen: '127.0.0.1:0', tls } });
    await expect(wrong).rejects.toThrow(/console\.tls: the key does not belong to the certificate/);
    writeFileSync(tls.keyFile, pair.key);
    const { url } = await start({
      console: { listen: '127.0.0.1:0', tls },
      store: { path: join(folder, 'other.db') },
    });
    expect(url).toMatch(/^https:/);
    const { status, cookie } = await signInByTls(url, authority.certificate, {
      name: 'ann',
      password: PASSWORD,
    });
    expect([status, cookie.split('=')[0]]).toEqual([200, `__Host-dragoman-${new URL(url).port}`]);
  });

  it.each(['dynsec', 'acl'] as const)(
    'has its rights at a broker of "broker init" in the form %s',
    needs(findMosquitto() === null && 'needs mosquitto'),
    async (form) => {
      broker = await setUpBroker(form, 'password');
      await broker.start();
      const login = broker.login('backend');
      const { mqtt, signingKeyFile } = JSON.parse(readFileSync(join(login, 'backend.json'), 'utf8'));
      const at = (name: string): string => join(login, name);
      const own = { ...mqtt, passwordFile: at(mqtt.passwordFile), caFile: at(mqtt.caFile) };
      const more = { mqtt: own, signingKeyFile: at(signingKeyFile), console: { listen: '127.0.0.1:0' } };
      const { url, lines } = await start(more);
      const device = await broker.connect('museum.kiosk-01');
      const base = `${PREFIX}/museum/kiosk-01`;
      await device.mqtt.subscribeAsync([`${base}/cmd/+`, `${base}/config/desired`]);
      const status = { ts: null, status: 'ready', boot_id: 'b', conn_seq: 1, version: '1.0.0', reasons: [] };
      await device.mqtt.publishAsync(`${base}/status`, JSON.stringify(status), { qos: 1, retain: true });
      const headers: Record<string, string> = { origin: url, 'content-type': 'application/json' };
      const signIn = await fetch(`${url}/api/sign-in`, {
        method: 'POST',
        headers,
        body: JSON.stringify({ name: 'ann', password: PASSWORD }),
      });
      headers['cookie'] = signIn.headers.get('set-cookie')?.split(';')[0] ?? '';
      const get = async (path: string) =>
        JSON.parse(await (await fetch(`${url}${path}`, { headers })).text());
      const post = async (path: string, body: object) => {
        const options = { method: 'POST', headers, body: JSON.stringify(body) };
        return JSON.parse(await (await fetch(`${url}${path}`, options)).text());
      };
      await expect.poll(async () => (await get('/api/devices')).rows[0]?.status).toBe('ready');
      const to = { devices: ['museum/kiosk-01'] };
      const { job } = await post('/api/commands', { command: 'mute', to });
      await expect.poll(() => device.got.map(({ topic }) => topic)).toEqual([`${base}/cmd/mute`]);
      const { id } = JSON.parse(device.got[0]?.text ?? '{}');
      await device.mqtt.publishAsync(`${base}/cmd/mute/res`, JSON.stringify({ ts: null, id, status: 'ok' }), {
        qos: 1,
      });
      await expect.poll(async () => (await get(`/api/jobs/${job.id}`)).job.counts.ok).toBe(1);
      const document = { lanes: [{ id: 'main', volume: 50 }] };
      const change = { target: { device: 'museum/kiosk-01' }, basedOn: 0, document };
      expect(await post('/api/config', change)).toEqual({ version: 1, warnings: [] });
      await expect.poll(() => device.got.at(-1)?.topic).toBe(`${base}/config/desired`);
      expect(lines.join('')).not.toContain('does not allow');
    },
  );
});
