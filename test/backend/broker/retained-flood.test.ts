/** What a stolen login has left at the broker, and the page's lines that remove it. */
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { findMosquitto } from '../../adapters/mqtt/mosquitto.ts';
import { needs } from '../../needs.ts';
import { backend, type SetUp, setUpBroker } from './set-up-broker.ts';

const missing = findMosquitto() === null || spawnSync('mosquitto_pub', ['--help']).error !== undefined;
const BASE = 'dragoman/v1/museum/kiosk-02';
const PAGE = readFileSync(join(import.meta.dirname, '../../../docs/fleet-security.md'), 'utf8');
const [, giveLogin = '', remove = ''] =
  /^## A device that fills the broker\n.*?```sh\n(.*?)```.*?```sh\n(.*?)```/ms.exec(PAGE) ?? [];

let broker: SetUp;
afterEach(() => broker.close());

describe('a device that fills the broker', needs(missing && 'needs mosquitto and its clients'), () => {
  it.each(['acl', 'dynsec'] as const)('leaves nothing after the lines of the page (%s)', async (form) => {
    broker = await setUpBroker(form, 'password');
    await broker.start();
    const hostile = await broker.connect('museum.kiosk-02');
    for (let n = 0; n < 10; n += 1)
      for (const topic of [`event/x${n}`, `cmd/x${n}/res`])
        await hostile.mqtt.publishAsync(`${BASE}/${topic}`, Buffer.alloc(262_000, 'x'), {
          qos: 1,
          retain: true,
        });
    await broker.stop();
    const kept = (): number => statSync(join(broker.folder, 'broker/store/mosquitto.db')).size;
    expect(kept()).toBeGreaterThan(5_000_000);
    const cwd = dirname(broker.folder);
    const [move = '', add = ''] = giveLogin.trim().split('\n');
    await run(move, cwd);
    expect(
      (await backend(add.replace('--broker museum', `--broker ${broker.folder}`).split(' ').slice(1))).err,
    ).toBe('');
    await broker.start();
    const lines = remove
      .replaceAll('broker.example', '127.0.0.1')
      .replace('-p 8884', `-p ${broker.peoplePort}`)
      .replace('-p 8883', `-p ${broker.devicePort}`)
      .replace('-W 20', '-W 5');
    await run(lines, cwd);
    await broker.stop();
    expect(kept()).toBeLessThan(10_000);
  });
});

async function run(lines: string, cwd: string): Promise<void> {
  const child = spawn('sh', ['-c', lines], { cwd, stdio: ['ignore', 'ignore', 'inherit'] });
  await once(child, 'exit');
}
