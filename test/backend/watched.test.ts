/** What programs and people see of a backend's health, and how it leaves. */

import { EventEmitter } from 'node:events';
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { get as ask, createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { runBackendProgram } from '../../src/backend/cli.ts';
import { backendWarnings } from '../../src/backend/config/config-warnings.ts';
import { releasesWarning } from '../../src/backend/releases/release-files.ts';
import { createSqlStore } from '../../src/backend/store/sql-store.ts';
import { createSqliteEngine } from '../../src/backend/store/sqlite-engine.ts';
import { backendConfigSchema } from '../../src/protocol/backend-config.ts';
import { freePort } from '../free-port.ts';
import { gather } from '../gathered.ts';
import { until } from '../until.ts';
import { API_KEY, fixtureOfEachTest, sessionOf, startFixture } from './backend-on-loopback.ts';
import { answerJson, type FakeService, sessionOf as fakeSession, startFakeService } from './fake-service.ts';

let folder: string;
let fakeService: FakeService | null = null;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'dragoman-watched-'));
});
afterEach(async () => {
  rmSync(folder, { recursive: true, force: true });
  await fakeService?.close();
  fakeService = null;
});
const { start } = fixtureOfEachTest();
const metrics = { listen: '127.0.0.1:0' };

async function get(url: string | null, headers: Record<string, string> = {}) {
  const response = await fetch(url ?? '', { headers });
  return { status: response.status, body: await response.text() };
}

describe('a backend with metrics.listen', () => {
  it('is healthy and ready while it has broker and store, and names what is missing', async () => {
    const path = join(folder, 'store.db');
    const fixture = await start({ config: { metrics, store: { path } } });
    const url = fixture.backend.watchedAt;
    await expect.poll(() => get(`${url}/readyz`)).toEqual({ status: 200, body: '{"ready":true}\n' });
    expect(await get(`${url}/healthz`)).toEqual({ status: 200, body: 'ok\n' });

    const other = createSqliteEngine(path);
    let free = (): void => {};
    const held = other.transact(null, () => new Promise<void>((resolve) => (free = resolve)));
    await expect
      .poll(() => get(`${url}/readyz`))
      .toEqual({ status: 503, body: '{"ready":false,"missing":["store"]}\n' });
    free();
    await held;
    await other.close();
    await fixture.broker?.close();
    await expect
      .poll(() => get(`${url}/readyz`))
      .toEqual({ status: 503, body: '{"ready":false,"missing":["broker"]}\n' });
    expect((await get(`${url}/healthz`)).status).toBe(200);
  });

  it('answers only under a name of this machine, and only what it has', async () => {
    const fixture = await start({ config: { metrics } });
    const url = fixture.backend.watchedAt ?? '';
    expect(await get(`${url}/`)).toEqual({
      status: 404,
      body: 'Not found. Available: /healthz /readyz /metrics\n',
    });
    expect((await fetch(`${url}/readyz`, { method: 'POST' })).status).toBe(405);
    const foreign = await new Promise<number | undefined>((resolve) => {
      const { port } = new URL(url);
      ask({ port, path: '/readyz', headers: { host: 'evil.example' } }, (response) => {
        response.resume();
        resolve(response.statusCode);
      });
    });
    expect(foreign).toBe(403);
  });

  it('serves the files of releases to everybody, and nothing else of the machine', async () => {
    const path = join(folder, 'repository');
    mkdirSync(join(path, 'dists/stable'), { recursive: true });
    writeFileSync(join(path, 'dists/stable/InRelease'), 'signed');
    const fixture = await start({ config: { metrics, releases: { path } } });
    const url = `${fixture.backend.watchedAt}/releases`;
    expect(await get(`${url}/dists/stable/InRelease`)).toEqual({ status: 200, body: 'signed' });
    expect((await get(`${url}/dists/stable/`)).status).toBe(404);
    const { port } = new URL(url);
    const asked = (target: string) =>
      new Promise<number | undefined>((resolve) => {
        ask({ port, path: target, headers: { host: 'updates.example' } }, (response) => {
          response.resume();
          resolve(response.statusCode);
        });
      });
    expect(await asked('/releases/dists/stable/InRelease')).toBe(200);
    expect(await asked('/releases/../../../etc/passwd')).toBe(404);
    expect(await asked('/healthz')).toBe(403);
  });

  it('serves the files of releases at an address of their own, and no figures there', async () => {
    const path = join(folder, 'repository');
    mkdirSync(join(path, 'dists/stable'), { recursive: true });
    writeFileSync(join(path, 'dists/stable/InRelease'), 'signed');
    const listen = `127.0.0.1:${await freePort()}`;
    const fixture = await start({ config: { metrics, releases: { path, listen } } });
    const file = 'releases/dists/stable/InRelease';
    expect(await get(`http://${listen}/${file}`)).toEqual({ status: 200, body: 'signed' });
    expect(await get(`http://${listen}/metrics`)).toEqual({
      status: 404,
      body: 'Not found. Available: /releases/\n',
    });
    expect((await get(`${fixture.backend.watchedAt}/${file}`)).status).toBe(404);
  });

  it('has no files of releases when releases.path is not set', async () => {
    const fixture = await start({ config: { metrics } });
    expect((await get(`${fixture.backend.watchedAt}/releases/x`)).status).toBe(404);
  });

  it('refuses files of releases without an address, and warns of a folder without a repository', async () => {
    const starting = startFixture({ config: { releases: { path: folder } } });
    await expect(starting).rejects.toThrow(/needs \\"releases.listen\\" or \\"metrics.listen\\"/);
    expect(releasesWarning(folder)).toMatch(/make and sign a repository with scripts\/release/);
    expect(releasesWarning(null)).toBeNull();
  });

  it.each([
    '9464',
    'localhost',
    'metrics.example:9464',
    '127.0.0.1:99999',
    '127.1:9464',
    ' 127.0.0.1:1',
    '::1:9464',
  ])('refuses to listen at "%s", which is not an address with a port', (listen) => {
    const { error } = backendConfigSchema.shape.metrics.safeParse({ listen });
    expect(error?.issues[0]).toMatchObject({
      path: ['listen'],
      message: 'must be an IP address with a port, such as "127.0.0.1:9464"',
    });
  });

  it('answers under any name when it listens for other machines, and warns', async () => {
    const fixture = await start({ config: { metrics: { listen: '0.0.0.0:0' } } });
    const port = new URL(fixture.backend.watchedAt ?? '').port;
    const status = await new Promise<number | undefined>((resolve) => {
      ask({ port, path: '/healthz', headers: { host: 'backend.example' } }, (response) => {
        response.resume();
        resolve(response.statusCode);
      });
    });
    expect(status).toBe(200);
    const config = backendConfigSchema.parse({
      mqtt: { url: fixture.brokerUrl },
      service: { url: 'https://api.example', streamUrl: 'wss://stream.example' },
      allow: ['museum/*'],
      metrics: { listen: '[2001:db8::5]:9464' },
    });
    expect(backendWarnings(config).join()).toMatch(/metrics\.listen: other machines can read/);
  });
});

describe('a backend that is asked to end', () => {
  it('hands new requests to another one at once, and finishes its own', async () => {
    let answerFirst = (): void => {};
    fakeService = await startFakeService((_, response) => {
      answerFirst = () => answerJson(response, 201, { ok: true, data: fakeSession() });
    });
    const path = join(folder, 'store.db');
    const first = await start({
      serviceUrl: fakeService.url,
      config: { store: { path }, metrics },
      closeWithinMs: 60_000,
      serviceTimeout: 60,
    });
    first.send('kiosk', first.request('r1'));
    await until(() => fakeService?.seen.length === 1, 'the creation');
    const second = await startFixture({
      brokerUrl: first.brokerUrl,
      serviceUrl: fakeService.url,
      config: { mqtt: { url: first.brokerUrl }, store: { path } },
    });
    const closing = first.backend.close();
    await expect.poll(() => get(`${first.backend.watchedAt}/readyz`)).toMatchObject({ status: 503 });
    // Everything that is asked now goes to the second one.
    const asked = fakeService.seen.length;
    const finishFirst = answerFirst;
    for (let index = 0; index < 6; index += 1)
      first.send(`other-${index}`, first.request('r1', { intent: 'stt' }));
    await until(
      () => [0, 1, 2, 3, 4, 5].every((index) => first.answersTo(`other-${index}`).length === 1),
      'denials',
    );
    expect(first.answersTo('kiosk')).toEqual([]);
    finishFirst();
    await until(() => first.answersTo('kiosk').length === 1, 'the answer to the older request');
    expect(
      sessionOf(first.answersTo('kiosk')[0] ?? { id: '', ok: false, error: {} as never }).token,
    ).toBeDefined();
    await closing;
    expect(fakeService.seen).toHaveLength(asked);
    await second.close();
  });
});

function write(name: string, content: string): string {
  const file = join(folder, name);
  writeFileSync(file, content);
  chmodSync(file, 0o600);
  return file;
}

async function doctor(config: object, ...more: string[]) {
  const { said, print, complain } = gather();
  const output = Object.assign(new PassThrough(), { fd: 1, isTTY: false });
  const file = write('c.json', JSON.stringify(config));
  const words = ['doctor', '--config', file, ...more];
  const code = await runBackendProgram(words, {
    env: {},
    output,
    signals: new EventEmitter(),
    print,
    complain,
  });
  return { code, ...said };
}

describe('dragoman-backend doctor', () => {
  const configOf = (brokerUrl: string, serviceUrl: string, key: string, store: object) => ({
    mqtt: { url: brokerUrl },
    service: { url: serviceUrl, streamUrl: 'wss://stream.example', apiKeyFile: write('key', key) },
    allow: ['museum/*'],
    store,
  });

  it('finds no problem when all is there, and makes no session', async () => {
    const fixture = await start();
    const path = join(folder, 'store.db');
    const config = configOf(fixture.brokerUrl, fixture.emulator?.url ?? '', API_KEY, { path });
    const { code, out, err } = await doctor(config);
    expect({ code, err }).toEqual({ code: 0, err: '' });
    for (const check of ['service', 'key', 'broker', 'store'])
      expect(out).toMatch(new RegExp(`^ok +${check}`, 'm'));
    expect(out).toMatch(/^skipped +clock/m);
    expect(fixture.emulator?.service.sessions.list(['temporary'])).toEqual([]);
    const json = JSON.parse((await doctor(config, '--json')).out) as { doctor: object };
    expect(json.doctor).toMatchObject({
      verdict: 'ok',
      checks: expect.arrayContaining([expect.objectContaining({ check: 'store' })]),
    });
  });

  it('names each problem and its fix, with exit code 3', async () => {
    const fixture = await start();
    const serviceUrl = fixture.emulator?.url ?? '';
    const wrong = await doctor(
      configOf('mqtt://127.0.0.1:1', serviceUrl, 'wrong-key', { path: write('no-store', 'x'.repeat(5000)) }),
    );
    expect(wrong.code).toBe(3);
    expect(wrong.out).toMatch(/^ok +service/m);
    expect(wrong.out).toMatch(/^problem +key .*\n +-> check service\.apiKeyFile$/m);
    expect(wrong.out).toMatch(/^problem +broker .*\n +-> check mqtt\.url/m);
    expect(wrong.out).toMatch(/^problem +store .*damaged or is not a store.*\n +-> check store\.path/m);
    expect(wrong.err).toMatch(/found a problem: key, broker, store/);
    expect(wrong.out + wrong.err).not.toContain('wrong-key');
    const gone = await doctor(configOf(fixture.brokerUrl, 'http://127.0.0.1:1', API_KEY, {}));
    expect(gone.code).toBe(3);
    expect(gone.out).toMatch(/^problem +service/m);
    expect(gone.out).toMatch(/^skipped +key/m);
    expect(gone.out).toMatch(/^warning +store/m);
  });
});

describe('dragoman-backend run', () => {
  const ofRun = async (config: object) => {
    const { said, print, complain } = gather();
    const output = Object.assign(new PassThrough(), { fd: 1, isTTY: false });
    const words = ['run', '--config', write('c.json', JSON.stringify(config))];
    const code = await runBackendProgram(words, {
      env: {},
      output,
      signals: new EventEmitter(),
      print,
      complain,
    });
    return { code, ...said };
  };
  const base = () => ({
    mqtt: { url: 'mqtt://127.0.0.1:1' },
    service: {
      url: 'http://127.0.0.1:1',
      streamUrl: 'wss://stream.example',
      apiKeyFile: write('key', API_KEY),
    },
    allow: ['museum/*'],
  });

  it.each([
    ['is damaged', () => write('store.db', 'x'.repeat(5000)), /damaged or is not a store: restore a backup/],
    ['has no folder', () => join(folder, 'none', 'store.db'), /its folder does not exist: create it/],
    ['is a folder', () => folder, /it is a folder: name a file/],
  ])('does not start when its store %s, and says what to do', async (_what, path, words) => {
    const { code, err } = await ofRun({ ...base(), store: { path: path() } });
    expect(code).toBe(2);
    expect(err).toMatch(words);
    expect(err.trim().split('\n')).toHaveLength(1);
  });

  it('does not start when its store is of a newer program', async () => {
    const path = join(folder, 'store.db');
    const engine = createSqliteEngine(path);
    await createSqlStore(engine).open();
    await engine.transact(null, (sql) => sql.query('UPDATE schema_version SET version = 99'));
    await engine.close();
    const { code, err } = await ofRun({ ...base(), store: { path } });
    expect(code).toBe(2);
    expect(err).toMatch(/has version 99.*run the newer program/);
  });

  it('does not start when metrics.listen is taken', async () => {
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const listen = `127.0.0.1:${(server.address() as AddressInfo).port}`;
    const { code, err } = await ofRun({ ...base(), metrics: { listen } });
    server.close();
    expect(code).toBe(2);
    expect(err).toMatch(
      /metrics\.listen: 127\.0\.0\.1:\d+ cannot be used \(another program uses this address and port\): end that program, or name another port/,
    );
  });
});
