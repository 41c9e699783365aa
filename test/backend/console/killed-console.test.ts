/** The backend as a program is killed while a bulk command runs and a page looks on. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, expect, it } from 'vitest';
import { createSystemClock } from '../../../src/adapters/clock.ts';
import { openConsoleStore } from '../../../src/backend/store/open-store.ts';
import { createSqliteEngine } from '../../../src/backend/store/sqlite-engine.ts';
import { startBroker } from '../../../src/cli/demo/broker.ts';
import { backendConfigSchema } from '../../../src/protocol/backend-config.ts';
import { createTestBuses } from '../../adapters/mqtt/test-buses.ts';
import { placeBundles } from '../../bundles.ts';
import { freePort } from '../../free-port.ts';
import { until } from '../../until.ts';
import { openStream, PASSWORD, PASSWORD_HASH, PREFIX } from './console-on-loopback.ts';

const NAMES = Array.from({ length: 200 }, (_, index) => `museum/k-${String(index).padStart(3, '0')}`);
const MUTE = 'museum/k-mute';
const closers: (() => Promise<void> | void)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

async function startProgram(folder: string, config: string): Promise<ChildProcess> {
  const child = spawn(process.execPath, [join(folder, 'backend.mjs'), 'run', '--config', config], {
    cwd: folder,
    env: { PATH: process.env['PATH'] },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  closers.push(async () => {
    if (child.exitCode !== null || child.signalCode !== null) return;
    const ended = once(child, 'exit');
    child.kill('SIGKILL');
    await ended;
  });
  let said = '';
  child.stdout?.on('data', (part) => {
    said += String(part);
  });
  await until(() => said.includes('listening for token requests') || child.exitCode !== null, 'the backend');
  expect(child.exitCode, said).toBeNull();
  return child;
}

/** The time after which the jobs of a killed backend belong to whoever comes. */
async function endLeases(path: string): Promise<void> {
  const engine = createSqliteEngine(path);
  await engine.transact(null, (sql) => sql.query('UPDATE console_job SET lease_until = 0'));
  await engine.close();
}

it('goes on with a bulk command, its audit and the page when the backend was killed', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'dragoman-killed-console-'));
  closers.push(() => rmSync(folder, { recursive: true, force: true }));
  await placeBundles(folder);
  const broker = await startBroker();
  closers.push(() => broker.close());
  const url = `http://127.0.0.1:${await freePort()}`;
  const store = { path: join(folder, 'store.db') };
  const config = join(folder, 'c.json');
  writeFileSync(join(folder, 'key'), 'an-account-key', { mode: 0o600 });
  const service = { url: 'http://127.0.0.1:9', streamUrl: 'wss://stream.example/x', apiKeyFile: 'key' };
  const console = { listen: url.slice('http://'.length) };
  const settings = { mqtt: { url: broker.url }, service, allow: ['museum/*'], store, console };
  writeFileSync(config, JSON.stringify(settings));
  const people = openConsoleStore(backendConfigSchema.parse(settings).store, () => '');
  await people.addPerson({ name: 'ann', role: 'administrator', passwordHash: PASSWORD_HASH });
  await people.close();

  const buses = createTestBuses(createSystemClock());
  closers.push(() => buses.closeAll());
  const device = buses.open({ url: broker.url }, { subscriptions: [`${PREFIX}/museum/+/cmd/+`] });
  await until(() => device.ups.length > 0, 'the broker');
  const publish = (name: string, topic: string, body: object, retain: boolean): void =>
    device.bus.publish(`${PREFIX}/${name}/${topic}`, JSON.stringify(body), { qos: 1, retain });
  for (const name of [...NAMES, MUTE]) {
    const status = { ts: null, status: 'ready', boot_id: 'b', conn_seq: 1, version: '1.0.0', reasons: [] };
    publish(name, 'status', status, true);
  }
  /** A device answers a repeated command again, and carries it out once. */
  const carriedOut = new Map<string, Set<string>>();
  const answer = (isAwake: (name: string) => boolean): void => {
    for (const { topic, payload } of device.messages.splice(0)) {
      const [tenant, kiosk, , command] = topic.slice(PREFIX.length + 1).split('/');
      const name = `${tenant}/${kiosk}`;
      if (!isAwake(name)) continue;
      const { id, args, not_after } = JSON.parse(payload);
      const known = carriedOut.get(name) ?? new Set();
      carriedOut.set(name, known.add(JSON.stringify([id, args, not_after])));
      publish(name, `cmd/${command}/res`, { ts: null, id, status: 'ok' }, false);
    }
  };

  let cookie = '';
  const ask = async (path: string, body?: object) => {
    const response = await fetch(`${url}${path}`, {
      headers: { cookie, origin: url, 'content-type': 'application/json' },
      ...(body && { method: 'POST', body: JSON.stringify(body) }),
    });
    cookie = response.headers.get('set-cookie')?.split(';')[0] ?? cookie;
    return JSON.parse(await response.text());
  };
  const first = await startProgram(folder, config);
  await ask('/api/sign-in', { name: 'ann', password: PASSWORD });
  await expect.poll(async () => (await ask('/api/devices')).total).toBe(NAMES.length + 1);
  const page = await openStream(url, cookie, {});
  const bulk = { command: 'status', to: { filter: { q: 'k-' }, except: [MUTE] }, validS: 600 };
  const { job } = await ask('/api/commands', bulk);
  const spoken = {
    command: 'say',
    args: { text: 'Closing soon.', language: 'en' },
    to: { devices: [MUTE] },
    validS: 5,
  };
  const { job: said } = await ask('/api/commands', spoken);
  const shown = (id: string) => ask(`/api/jobs/${id}`);
  await expect
    .poll(async () => {
      answer((name) => name < 'museum/k-050');
      return (await shown(job.id)).job.counts.ok;
    })
    .toBe(50);
  const gone = once(first, 'exit');
  first.kill('SIGKILL');
  await gone;
  await until(() => page.isClosed, 'the end of the stream');
  device.messages.length = 0;
  await endLeases(store.path);

  await startProgram(folder, config);
  // Still signed in. What the store has is shown before the job goes on.
  expect((await shown(job.id)).job).toMatchObject({ devices: 200, endedAt: null });
  const again = await openStream(url, cookie, {});
  closers.push(() => again.close());
  await expect
    .poll(
      async () => {
        answer((name) => name !== MUTE);
        return (await shown(job.id)).job.counts;
      },
      { timeout: 120_000 },
    )
    .toMatchObject({ ok: 200, silent: 0, waiting: 0, sent: 0 });
  // The same id and content again: a device takes it for the same command.
  expect([...carriedOut.values()].map(({ size }) => size)).toEqual(NAMES.map(() => 1));
  await expect.poll(async () => (await shown(said.id)).job.endedAt, { timeout: 60_000 }).not.toBeNull();
  const { devices } = await shown(said.id);
  expect(devices).toMatchObject([{ device: MUTE, message: expect.stringMatching(/\w{3,} \w+/) }]);

  const { lines } = await ask('/api/audit?what=command');
  expect(lines).toMatchObject([
    {
      what: 'command.say',
      on: MUTE,
      result: { ok: false, text: expect.stringMatching(/^1 (stopped|silent): /) },
    },
    { what: 'command.status', on: '200 devices', result: { ok: true, text: '200 ok' } },
  ]);
  expect(again.snapshot?.seq).toBe(1);
  expect(again.diffs.map(({ seq }) => seq)).toEqual(again.diffs.map((_, index) => index + 2));
  await until(() => again.diffs.some(({ jobs }) => jobs?.some(({ endedAt }) => endedAt !== null)), 'the job');
}, 300_000);
