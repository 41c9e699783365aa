/** The doctor beside a running daemon: what the agent says of itself, and which configuration it runs with. */
import { EventEmitter } from 'node:events';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createSystemClock } from '../../src/adapters/clock.ts';
import { loadConfig } from '../../src/adapters/config/load.ts';
import { createLogger } from '../../src/adapters/log.ts';
import { type Broker, startBroker } from '../../src/cli/demo/broker.ts';
import { runDaemon } from '../../src/device/daemon.ts';
import { createExamination } from '../../src/device/doctor/examination.ts';
import { runChecks } from '../../src/device/doctor/report/check.ts';
import type { CheckName, Finding } from '../../src/protocol/mqtt/diagnose.ts';
import type { RunningNote } from '../../src/protocol/running-note.ts';
import { createFakeInitSystem } from '../device/process/fake-init-system.ts';

/** The daemon runs in the process of the test, which the doctor would not take for another program. */
const AGENT = 4711;
const clock = createSystemClock();
const signals = new EventEmitter();
let folder: string;
let broker: Broker;
let ended: Promise<void>;
const path = (name: string): string => join(folder, name);
const env = () => ({ RUNTIME_DIRECTORY: path('run'), STATE_DIRECTORY: path('state') });
const note = (): RunningNote | null =>
  existsSync(path(`run/agent-${process.pid}.json`))
    ? JSON.parse(readFileSync(path(`run/agent-${process.pid}.json`), 'utf8'))
    : null;
const load = () => loadConfig({ file: path('config.json'), env: {} });

function configure(lane: object = {}, rest: object = {}): void {
  const config = {
    device: { id: 'kiosk-01', tenant: 'museum' },
    mqtt: { url: broker.url, username: 'kiosk', passwordFile: path('password') },
    lanes: [
      {
        source: 'en',
        targets: ['es'],
        capture: { driver: 'command', command: ['/bin/false'] },
        playback: { driver: 'file', path: path('out.wav') },
        ...lane,
      },
    ],
    ...rest,
  };
  writeFileSync(path('config.json'), JSON.stringify(config));
}

async function run(): Promise<void> {
  const loaded = load();
  if (!loaded.ok) throw new Error(JSON.stringify(loaded.problems));
  const logger = createLogger({ level: 'fatal', format: 'json', sink: { write: () => {} } });
  const { initSystem } = createFakeInitSystem(null);
  ended = runDaemon({ config: loaded.config, reload: load, logger, signals, initSystem, env: env() });
}

async function examine(...only: CheckName[]): Promise<(name: CheckName) => Finding | undefined> {
  writeFileSync(path(`run/agent-${AGENT}.json`), JSON.stringify({ ...note(), pid: AGENT }));
  const machine = {
    env: {},
    kernel: { proc: path('proc'), sys: path('sys') },
    soundAccess: () => ({}) as never,
    run: async () => ({ ok: false, missing: true, text: '' }) as const,
  };
  const examination = createExamination({
    file: path('config.json'),
    loaded: load(),
    machine,
    clock,
    only,
    isSilent: false,
  });
  const findings = await runChecks(examination.checks, { clock });
  await examination.close();
  return (name) => findings.find(({ check }) => check === name);
}

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'dragoman-beside-'));
  for (const name of ['run', 'state', `proc/${AGENT}`]) mkdirSync(path(name), { recursive: true });
  writeFileSync(path('password'), 'right-one', { mode: 0o600 });
  writeFileSync(path(`proc/${AGENT}/cmdline`), `dragoman\0run\0--config\0${path('config.json')}\0`);
  writeFileSync(path(`proc/${AGENT}/environ`), `LANG=C\0RUNTIME_DIRECTORY=${path('run')}\0`);
  broker = await startBroker({ login: (_, password) => password === 'right-one' });
});
afterEach(async () => {
  signals.emit('SIGTERM');
  await ended;
  expect(note()).toBeNull();
  await broker.close();
  rmSync(folder, { recursive: true, force: true });
});

describe('the doctor beside a running agent', () => {
  it('reports a wrong password and the lost microphone, and never the client identifier', async () => {
    writeFileSync(path('password'), 'wrong-one', { mode: 0o600 });
    configure();
    await run();
    await expect.poll(note).toMatchObject({
      broker: expect.stringContaining('refused the connection'),
      reasons: expect.arrayContaining(['capture:lost']),
    });
    const of = await examine('agent', 'broker', 'capture');
    expect(of('broker')).toMatchObject({
      verdict: 'problem',
      fix: expect.stringContaining(path('password')),
    });
    expect(of('agent')).toMatchObject({
      verdict: 'problem',
      finding: expect.stringMatching(/"capture:lost": .*has no connection to the broker: .*refused/),
    });
    expect(of('capture')).toMatchObject({
      verdict: 'problem',
      finding: expect.stringContaining('reports "capture:lost"'),
    });
    const all = JSON.stringify(['agent', 'broker', 'capture'].map((name) => of(name as CheckName)));
    expect(all).not.toMatch(/identifier|wrong-one/);
  });

  it('reports a password that has become wrong since the agent connected', async () => {
    configure();
    await run();
    await expect.poll(note).toMatchObject({ broker: true });
    expect((await examine('broker'))('broker')?.verdict).toBe('ok');
    writeFileSync(path('password'), 'wrong-one', { mode: 0o600 });
    const of = await examine('broker');
    expect(of('broker')).toMatchObject({
      verdict: 'problem',
      fix: expect.stringContaining(path('password')),
    });
    expect(JSON.stringify(of('broker'))).not.toMatch(/identifier|wrong-one/);
  });

  it('compares the file with what runs', async () => {
    configure();
    await run();
    await expect.poll(note).toMatchObject({ broker: true });
    const differing = async () => (await examine('agent'))('agent')?.data['differing'];
    expect(await differing()).toEqual([]);
    configure({ capture: { driver: 'command', command: ['/bin/true'] } });
    expect(await differing()).toEqual(['lanes']);
    const config = note()?.config;
    configure({ targets: ['fr'] }, { service: { hosts: ['stream.example'] } });
    signals.emit('SIGHUP');
    await expect.poll(() => note()?.config).not.toEqual(config);
    // The language is in force, the host waits.
    expect(await differing()).toEqual(['service']);
    expect(note()).toMatchObject({ reasons: expect.arrayContaining(['restart_needed:service']) });
    expect((await examine('agent'))('agent')?.finding).toContain('runs with another configuration: service');
    configure({ targets: ['fr'] });
    signals.emit('SIGHUP');
    await expect.poll(() => note()?.reasons).not.toContain('restart_needed:service');
    expect(await differing()).toEqual([]);
  });
});
