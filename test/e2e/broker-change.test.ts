/** A change of the broker: two real mosquittos with logins, configuration files and SIGHUP. */
import { EventEmitter } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { createSystemClock } from '../../src/adapters/clock.ts';
import { loadConfig } from '../../src/adapters/config/load.ts';
import { createLogger } from '../../src/adapters/log.ts';
import { createMqttBus, type MqttBus } from '../../src/adapters/mqtt/bus.ts';
import { runDaemon } from '../../src/device/daemon.ts';
import type { Clock } from '../../src/ports/clock.ts';
import { type Relay, startRelay } from '../adapters/mqtt/loopback-servers.ts';
import { findMosquitto, type Mosquitto, startMosquitto } from '../adapters/mqtt/mosquitto.ts';
import { createRecordingListener, type Heard } from '../adapters/mqtt/test-buses.ts';
import { createFakeInitSystem } from '../device/process/fake-init-system.ts';
import { needs } from '../needs.ts';
import { until } from '../until.ts';

/** Speed of the device's clock, because it waits for a broker for a quarter of a minute. */
const SPEED = 10;

function createFastClock(): Clock {
  const machine = createSystemClock();
  return {
    now: () => machine.now() * SPEED,
    wall: () => machine.wall(),
    at: (at, callback, slackMs = 0) => machine.at(at / SPEED, callback, slackMs / SPEED),
  };
}

const mosquitto = findMosquitto();
const BASE = 'dragoman/v1/museum/kiosk-01';

describe('a broker that moves', needs(mosquitto === null && 'needs mosquitto'), () => {
  let folder: string;
  let first: Mosquitto;
  let second: Mosquitto;
  /** Address of the second broker, which does not answer until it is opened. */
  let address: Relay;
  let atFirst: Heard;
  let atSecond: Heard;
  const witnesses: MqttBus[] = [];
  const stops: (() => Promise<void>)[] = [];
  const log = () => createLogger({ level: 'info', format: 'json', sink: new PassThrough().resume() });
  const at = (name: string): string => join(folder, name);

  const configure = (url: string): void =>
    writeFileSync(
      at('config.json'),
      JSON.stringify({
        device: { id: 'kiosk-01', tenant: 'museum' },
        mqtt: { url },
        lanes: [
          {
            source: 'en',
            targets: ['es'],
            start: 'command',
            capture: { driver: 'file', path: at('in.wav') },
            playback: { driver: 'file', path: at('out.wav') },
          },
        ],
      }),
    );
  const reload = () => loadConfig({ file: at('config.json'), env: {} });
  const startDevice = () => {
    const signals = new EventEmitter();
    const loaded = reload();
    if (!loaded.ok) throw new Error(JSON.stringify(loaded.problems));
    const { initSystem } = createFakeInitSystem(null);
    const env = { STATE_DIRECTORY: at('state') };
    const { config } = loaded;
    const clock = createFastClock();
    const ended = runDaemon({ config, reload, logger: log(), signals, initSystem, env, clock });
    const stop = (): Promise<void> => {
      signals.emit('SIGTERM');
      return ended;
    };
    stops.push(stop);
    return { sighup: () => void signals.emit('SIGHUP'), stop };
  };
  const watch = async (url: string): Promise<Heard> => {
    const recorder = createRecordingListener();
    const bus = createMqttBus({ url, clientId: `witness-${url}` }, { clock: createSystemClock(), seed: 1 })(
      { subscriptions: [`${BASE}/status`, `${BASE}/event/+`], will: null },
      recorder.listener,
    );
    witnesses.push(bus);
    await until(() => bus.connected);
    return recorder.heard;
  };
  const statuses = ({ messages }: Heard) =>
    messages
      .filter(({ topic }) => topic === `${BASE}/status`)
      .map(({ payload }) => JSON.parse(payload) as { status: string; reasons: string[] });
  const events = ({ messages }: Heard, kind: string) =>
    messages
      .filter(({ topic }) => topic === `${BASE}/event/${kind}`)
      .map(({ payload }) => JSON.parse(payload) as Record<string, unknown>);

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'dragoman-move-'));
    first = await startMosquitto(mosquitto ?? '');
    second = await startMosquitto(mosquitto ?? '');
    address = await startRelay(second.port);
    atFirst = await watch(first.url);
    atSecond = await watch(second.url);
  });
  afterAll(async () => {
    await Promise.all(witnesses.map((bus) => bus.close()));
    await address?.close();
    await Promise.all([first?.close(), second?.close()]);
    rmSync(folder, { recursive: true, force: true });
  });

  afterEach(async () => {
    for (const stop of stops.splice(0)) await stop();
  });

  it('is followed after SIGHUP when it answers; until then the device stays and reports at the old one', async () => {
    configure(first.url);
    const device = startDevice();
    await until(() => statuses(atFirst).at(-1)?.status === 'idle', 'the device at the first');
    address.hold(true);
    const there = `mqtt://127.0.0.1:${address.port}`;
    configure(there);
    device.sighup();
    // The address does not answer: each attempt times out.
    await until(() => events(atFirst, 'broker_returned').length > 0, 'the event', 60_000);
    expect(events(atFirst, 'broker_returned')[0]).toMatchObject({ from: there, to: first.url });
    const reason = `broker:127.0.0.1:${address.port}`;
    await until(() => statuses(atFirst).at(-1)?.reasons.includes(reason), 'the reason');
    expect(statuses(atFirst).at(-1)?.status).toBe('degraded');
    expect(statuses(atSecond)).toEqual([]);
    // Reading the configuration again starts an attempt at once.
    address.hold(false);
    address.cut();
    await expect
      .poll(
        () => {
          device.sighup();
          return events(atSecond, 'broker_changed').length;
        },
        { timeout: 60_000, interval: 500 },
      )
      .toBe(1);
    await until(() => statuses(atSecond).at(-1)?.status === 'idle', 'the device at the second');
    await until(() => statuses(atFirst).at(-1)?.status === 'offline', 'the status `offline` at the first');
    await device.stop();
  });
});
