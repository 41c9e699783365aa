/** The bundled agent with files on a dead disk: a thread that accesses one of them hangs forever. */
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import mqtt, { type MqttClient } from 'mqtt';
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from 'vitest';
import { type Broker, startBroker } from '../../src/cli/demo/broker.ts';
import { placeBundles } from '../bundles.ts';

const PRELOAD = fileURLToPath(new URL('hanging-disk.cjs', import.meta.url));
const BASE = 'dragoman/v1/museum/kiosk-01';

let programs: string;
let folder: string;
let disk: string;
let broker: Broker;
let owner: MqttClient;
/** Last message by topic below the device's. */
let heard: Map<string, Record<string, unknown>>;
const children = new Set<ChildProcess>();

beforeAll(async () => {
  programs = mkdtempSync(join(tmpdir(), 'dragoman-programs-'));
  await placeBundles(programs);
});
afterAll(() => rmSync(programs, { recursive: true }));

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'dragoman-disk-'));
  disk = join(folder, 'disk');
  mkdirSync(disk);
  execFileSync('mkfifo', [join(disk, 'pipe')]);
  broker = await startBroker();
  const lane = {
    source: 'en',
    targets: ['es'],
    start: 'command',
    capture: { driver: 'command', command: ['sleep', '600'] },
    playback: { driver: 'file', path: join(folder, 'out.wav') },
  };
  const config = {
    device: { id: 'kiosk-01', tenant: 'museum' },
    // A host name needs one of the threads, so the disk must not block all of them.
    mqtt: { url: `mqtt://localhost:${broker.port}` },
    budget: { minutesPerDay: 60 },
    lanes: [lane],
  };
  writeFileSync(join(folder, 'config.json'), JSON.stringify(config));
  heard = new Map();
  owner = mqtt.connect(broker.url);
  owner.on('message', (topic, payload) => {
    heard.set(topic.slice(BASE.length + 1), JSON.parse(String(payload)) as Record<string, unknown>);
  });
  await owner.subscribeAsync(`${BASE}/#`);
});
afterEach(async () => {
  for (const child of children) child.kill('SIGKILL');
  children.clear();
  await owner.endAsync(true);
  await broker.close();
  rmSync(folder, { recursive: true, force: true });
});

const hang = (): void => writeFileSync(join(disk, 'hangs'), '');

function start() {
  const words = ['-r', PRELOAD, join(programs, 'dragoman.mjs'), 'run', '--config', 'config.json'];
  const child = spawn(process.execPath, words, {
    cwd: folder,
    env: { PATH: process.env['PATH'], HANGING_DISK: disk, STATE_DIRECTORY: disk },
  });
  children.add(child);
  const said = { out: '' };
  child.stdout.setEncoding('utf8').on('data', (text: string) => (said.out += text));
  return { child, said };
}

it('starts without its state files, reports them, and answers commands', async () => {
  hang();
  const { said } = start();
  await expect.poll(() => heard.get('status')?.['status']).toBe('idle');
  await owner.publishAsync(`${BASE}/cmd/mute`, JSON.stringify({ id: 'one' }));
  await expect.poll(() => heard.get('cmd/mute/res')?.['status']).toBe('ok');
  await expect.poll(() => String(heard.get('status')?.['reasons'])).toContain('disk_problem');
  await expect
    .poll(() => heard.get('event/disk_problem')?.['message'])
    .toEqual(expect.stringContaining('has not been read yet'));
  // Log and messages arrive independently.
  for (const name of ['budget', 'commands', 'desired', 'tasks'])
    await expect
      .poll(() => said.out)
      .toMatch(
        new RegExp(`"file":"[^"]*/${name}\\.museum\\.kiosk-01\\.json","reason":"the disk takes too long"`),
      );
});

it('ends at a signal with a clean exit while a thread hangs in a file', async () => {
  const { child, said } = start();
  await expect.poll(() => heard.get('status')?.['status']).toBe('idle');
  hang();
  await owner.publishAsync(`${BASE}/cmd/mute`, JSON.stringify({ id: 'one' }));
  await expect.poll(() => heard.get('cmd/mute/res')?.['status']).toBe('ok');
  const asked = performance.now();
  const ended = once(child, 'exit').then((how) => ({ how, tookMs: performance.now() - asked }));
  const closed = once(child, 'close');
  child.kill('SIGTERM');
  const {
    how: [code, signal],
    tookMs,
  } = await ended;
  expect({ code, signal }).toEqual({ code: null, signal: 'SIGTERM' });
  // Its last output may arrive after its end.
  await expect.poll(() => heard.get('status')?.['status']).toBe('offline');
  await closed;
  expect(said.out).toContain('"msg":"stopped"');
  // The limit is 10 s; a busy machine may need longer.
  expect(tookMs).toBeLessThan(30_000);
});
