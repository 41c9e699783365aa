/** Two backends as programs: one is killed under load. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { createSystemClock } from '../../../src/adapters/clock.ts';
import { startBroker } from '../../../src/cli/demo/broker.ts';
import { startEmulator } from '../../../src/emulator/server.ts';
import { tokenResponseSchema } from '../../../src/protocol/mqtt/token.ts';
import { createTestBuses } from '../../adapters/mqtt/test-buses.ts';
import { placeBundles } from '../../bundles.ts';
import { until } from '../../until.ts';
import { API_KEY, PREFIX, STREAM_URL, sessionOf } from '../backend-on-loopback.ts';
import { onBothStores } from './both-stores.ts';
import { PASSWORD } from './postgres-server.ts';

/** A device repeats its request after this time (src/core/lane/lane-options.ts). */
const REPEAT_MS = 5000;
const DEVICES = Array.from({ length: 30 }, (_, index) => `kiosk-${index}`);

let folder = '';
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'dragoman-killed-'));
  await placeBundles(folder);
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

function write(name: string, content: string): string {
  const file = join(folder, name);
  writeFileSync(file, content);
  chmodSync(file, 0o600);
  return file;
}

async function startProgram(config: string): Promise<ChildProcess> {
  const child = spawn(process.execPath, [join(folder, 'backend.mjs'), 'run', '--config', config], {
    ...{ cwd: folder, env: { PATH: process.env['PATH'] }, stdio: ['ignore', 'pipe', 'inherit'] },
  });
  let said = '';
  child.stdout?.on('data', (part) => {
    said += String(part);
  });
  await until(() => said.includes('listening for token requests') || child.exitCode !== null, 'the backend');
  expect(child.exitCode, said).toBeNull();
  return child;
}

onBothStores((maker) => {
  it('gives each device one session, and leaves no other session', async () => {
    const store = { ...(await maker.make()).config };
    const broker = await startBroker();
    const emulator = await startEmulator({ apiKeys: [API_KEY] });
    const config = write(
      'c.json',
      JSON.stringify({
        mqtt: { url: broker.url },
        service: {
          ...{ url: emulator.url, streamUrl: STREAM_URL, apiKeyFile: write('key', API_KEY) },
          timeout: 60,
        },
        allow: ['museum/*'],
        limits: { createsPerSecond: 20, concurrency: 8, pendingSessions: 1000 },
        store: { ...store, ...('url' in store && { passwordFile: write('password', PASSWORD) }) },
      }),
    );
    const programs = await Promise.all([startProgram(config), startProgram(config)]);
    const buses = createTestBuses(createSystemClock());
    const answered = new Map<string, string[]>();
    const device = buses.open({ url: broker.url }, { subscriptions: [`${PREFIX}/museum/+/token/res`] });
    await until(() => device.ups.length > 0, 'the broker');
    const ask = (name: string, attempt: number): void =>
      device.bus.publish(
        `${PREFIX}/museum/${name}/token/req`,
        JSON.stringify({
          id: 'r1',
          lane: 'main',
          intent: 's2s',
          connection_type: 'ws',
          reason: 'start',
          attempt,
        }),
      );
    const read = (): void => {
      for (const { topic, payload } of device.messages.splice(0)) {
        const name = topic.split('/')[3] ?? '';
        const answer = tokenResponseSchema.parse(JSON.parse(payload));
        // Two programs that share a slow disk may wait too long for each other. The device tries again.
        if (!answer.ok && answer.error.code === 'store_unavailable') continue;
        const id = answer.ok ? sessionOf(answer).id : `denied ${answer.error.code} ${answer.error.detail}`;
        answered.set(name, [...(answered.get(name) ?? []), id]);
      }
    };
    const missing = () => {
      read();
      return DEVICES.filter((name) => !answered.has(name));
    };
    for (const name of DEVICES) ask(name, 1);
    await until(() => missing().length < DEVICES.length - 5, 'the first answers');
    programs[0]?.kill('SIGKILL');
    // That one repetition is enough is shown in virtual time (test/backend/core/instances.test.ts).
    for (let attempt = 2; missing().length > 0; attempt += 1) {
      await sleep(REPEAT_MS);
      for (const name of missing()) ask(name, attempt);
    }
    read();
    const sessions = () => emulator.service.sessions.list(['temporary']).filter(({ revoked }) => !revoked);
    const given = DEVICES.map((name) => answered.get(name)?.[0]);
    expect(given.filter((id) => id?.startsWith('denied'))).toEqual([]);
    // Sessions of the killed one that no device was told of go, too. That they go within 60 s is shown in virtual time.
    await expect
      .poll(
        () =>
          sessions()
            .map(({ id }) => id)
            .sort(),
        { timeout: 180_000 },
      )
      .toEqual([...given].sort());
    for (const program of programs) {
      if (program.exitCode !== null || program.signalCode !== null) continue;
      const ended = once(program, 'exit');
      program.kill('SIGTERM');
      expect((await ended)[0]).toBe(0);
    }
    await buses.closeAll();
    await emulator.close();
    await broker.close();
  });
});
