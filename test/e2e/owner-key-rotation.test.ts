/** Replaces the owner's key with a second one: real broker, files, signals and the programs' verbs. */
import { EventEmitter } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { connectAsync, type MqttClient } from 'mqtt';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { loadConfig } from '../../src/adapters/config/load.ts';
import { createLogger } from '../../src/adapters/log.ts';
import { parsePrivateKey } from '../../src/adapters/signing/signing-keys.ts';
import { type Backend, startBackend } from '../../src/backend/daemon/backend.ts';
import { runDaemon } from '../../src/device/daemon.ts';
import { type Emulator, startEmulator } from '../../src/emulator/server.ts';
import { backendConfigSchema } from '../../src/protocol/backend-config.ts';
import { findMosquitto, type Mosquitto, startMosquitto } from '../adapters/mqtt/mosquitto.ts';
import { backend as runBackend } from '../backend/broker/set-up-broker.ts';
import { createFakeInitSystem } from '../device/process/fake-init-system.ts';
import { needs } from '../needs.ts';
import { until } from '../until.ts';

const mosquitto = findMosquitto();
const BASE = 'dragoman/v1/museum/kiosk-01';
const KEY = 'account-key-4711';
const log = () => createLogger({ level: 'info', format: 'json', sink: new PassThrough().resume() });

describe("the rotation of the owner's key", needs(mosquitto === null && 'needs mosquitto'), () => {
  let folder: string;
  let broker: Mosquitto;
  let emulator: Emulator;
  let owner: Backend | null = null;
  let operator: MqttClient;
  let ended: Promise<void>;
  const signals = new EventEmitter();
  const heard: { topic: string; body: Record<string, unknown> }[] = [];
  const at = (name: string): string => join(folder, name);

  const configure = (...keys: string[]): void =>
    writeFileSync(
      at('config.json'),
      JSON.stringify({
        device: { id: 'kiosk-01', tenant: 'museum' },
        mqtt: { url: broker.url },
        owner: { publicKeyFiles: keys.map((name) => at(`${name}.pub.pem`)) },
        lanes: [
          {
            source: 'en',
            targets: ['es'],
            echo: 'off',
            start: 'command',
            capture: { driver: 'file', path: at('in.wav') },
            playback: { driver: 'file', path: at('out.wav') },
          },
        ],
      }),
    );
  const reload = () => loadConfig({ file: at('config.json'), env: {} });
  /** Restarts the backend with this key. */
  const signWith = async (name: string): Promise<void> => {
    await owner?.close();
    const file = at(`${name}.key.pem`);
    owner = await startBackend({
      config: backendConfigSchema.parse({
        mqtt: { url: broker.url },
        service: {
          url: emulator.url,
          streamUrl: `${emulator.url.replace(/^http/, 'ws')}/streaming-api/{random_hash}/v1/speech-to-speech/stream`,
        },
        allow: ['museum/*'],
      }),
      secrets: { apiKey: () => KEY, signingKey: parsePrivateKey(readFileSync(file, 'utf8'), file) },
      log: log(),
    });
    await owner.ready;
  };
  let commands = 0;
  const command = async (name: string): Promise<Record<string, unknown>> => {
    commands += 1;
    const id = `c${commands}`;
    operator.publish(`${BASE}/cmd/${name}`, JSON.stringify({ id, args: {} }), { qos: 1 });
    const isFinal = ({ body }: (typeof heard)[number]): boolean =>
      body['id'] === id && body['status'] !== 'accepted';
    await until(() => heard.some(isFinal), `the answer to ${name}`);
    return heard.find(isFinal)?.body['data'] as Record<string, unknown>;
  };
  const phase = async (): Promise<string> => {
    const { lanes } = (await command('status')) as { lanes: { phase: string }[] };
    return lanes[0]?.phase ?? '';
  };
  /** Brings the device from standby to a session, which needs a valid signed answer. */
  const goLive = async (): Promise<void> => {
    await command('stop');
    await expect.poll(phase).toBe('idle');
    await command('start');
    await expect.poll(phase).toBe('live');
  };

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'dragoman-keys-'));
    broker = await startMosquitto(mosquitto ?? '');
    emulator = await startEmulator({ apiKeys: [KEY] });
    writeFileSync(at('in.wav'), silence());
    for (const name of ['first', 'second'])
      expect((await runBackend(['keys', 'create', at(name)])).exitCode).toBe(0);
    configure('first');
    await signWith('first');
    operator = await connectAsync(broker.url);
    operator.on('message', (topic, payload) => void heard.push({ topic, body: JSON.parse(String(payload)) }));
    await operator.subscribeAsync([`${BASE}/cmd/+/res`, `${BASE}/status`], { qos: 1 });
    const loaded = reload();
    if (!loaded.ok) throw new Error(JSON.stringify(loaded.problems));
    const { initSystem } = createFakeInitSystem(null);
    ended = runDaemon({ config: loaded.config, reload, logger: log(), signals, initSystem, env: {} });
    await until(() => heard.some(({ topic }) => topic.endsWith('/status')), 'the device');
  });
  afterAll(async () => {
    signals.emit('SIGTERM');
    await ended;
    operator?.end(true);
    await owner?.close();
    await emulator?.close();
    await broker?.close();
    rmSync(folder, { recursive: true, force: true });
  });

  it('adds a key without a restart, removes the first, and keeps the present ones when the file is unusable', async () => {
    await goLive();

    // With both keys, the answers of either count.
    configure('first', 'second');
    signals.emit('SIGHUP');
    await goLive();
    await signWith('second');
    await goLive();

    // Without the first key, its answers are refused.
    configure('second');
    signals.emit('SIGHUP');
    await goLive();
    await command('stop');
    await expect.poll(phase).toBe('idle');
    await signWith('first');
    await command('start');
    const refusals = async () =>
      ((await command('status'))['refused_answers'] as Record<string, number>)['unknown_key'];
    await expect.poll(refusals).toBeGreaterThan(0);
    expect(await phase()).not.toBe('live');
    await signWith('second');
    await goLive();

    // A key that cannot be read changes nothing.
    rmSync(at('first.pub.pem'));
    configure('first', 'second');
    signals.emit('SIGHUP');
    await goLive();
  });
});

/** A second of silence, 16 kHz. */
function silence(): Buffer {
  const wav = Buffer.alloc(44 + 32_000);
  wav.write('RIFF', 0);
  wav.writeUInt32LE(wav.length - 8, 4);
  wav.write('WAVEfmt ', 8);
  wav.writeUInt32LE(16, 16);
  wav.writeUInt16LE(1, 20);
  wav.writeUInt16LE(1, 22);
  wav.writeUInt32LE(16_000, 24);
  wav.writeUInt32LE(32_000, 28);
  wav.writeUInt16LE(2, 32);
  wav.writeUInt16LE(16, 34);
  wav.write('data', 36);
  wav.writeUInt32LE(32_000, 40);
  return wav;
}
