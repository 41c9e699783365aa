import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type Broker, startBroker } from '../../src/cli/demo/broker.ts';
import { startProgram } from '../../src/cli/demo/child-program.ts';
import { openRack, type Rack } from '../../test/card/card.ts';
import { type Relay, startRelay } from './relay.ts';

/** The service's time from `set_task` to the running task (ms). */
export const SERVICE_SETUP_MS = 2500;
/** Quick answers to short sentences, so that the loudspeaker starts often and there is more to measure. */
const SERVICE_CHOICES = [
  'silenceThresholdMs=400',
  'textDelayMs=100',
  'speechDelayMs=200',
  'connectionsPerMinute=0',
];
const STREAM_PATH = '/streaming-api/{random_hash}/v1/speech-to-speech/stream';

/** The environment of the measured programs, on loopback. */
export interface Setting {
  readonly rack: Rack;
  /** The owner's broker that each agent uses, by the agent's name. */
  readonly brokers: ReadonlyMap<string, Broker>;
  readonly relay: Relay;
  readonly serviceUrl: string;
  readonly apiKey: string;
  readonly folder: string;
  /** Address for streams at the relay of that name; `{random_hash}` is not filled in. */
  streamUrl(name: string): string;
  close(): Promise<void>;
}

/**
 * @param names of the measured programs
 * @param agents those of them that get their sessions from a backend; each has its own broker and backend
 * @returns the setting, or the reason why this machine cannot have one
 */
export async function openSetting(
  names: readonly string[],
  agents: readonly string[],
): Promise<Setting | string> {
  const closers: (() => Promise<void>)[] = [];
  const close = async (): Promise<void> => {
    for (const closer of closers.splice(0).reverse()) await closer();
  };
  const { rack, missing } = await openRack();
  if (rack === null) return missing;
  closers.push(() => rack.close());
  try {
    const folder = await mkdtemp(join(tmpdir(), 'dragoman-bench-run-'));
    closers.push(() => rm(folder, { recursive: true, force: true }));
    const apiKey = 'bench-api-key';
    const service = await startProgram(
      program('emulator.mjs'),
      [
        'run',
        '--profile',
        'live',
        '--api-key',
        apiKey,
        '--setup-ms',
        String(SERVICE_SETUP_MS),
        ...SERVICE_CHOICES.flatMap((choice) => ['--set', choice]),
      ],
      (line) => textOf(line, 'listening') !== '',
    );
    closers.push(service.close);
    const serviceUrl = textOf(service.greeting, 'listening');
    const { hostname, port } = new URL(serviceUrl);
    const relay = await startRelay({ service: { hostname, port }, names });
    closers.push(relay.close);
    const streamUrl = (name: string): string => `${relay.urls[name]}${STREAM_PATH}`;
    const brokers = new Map<string, Broker>();
    const setting = { rack, brokers, relay, serviceUrl, apiKey, folder, streamUrl, close };
    for (const agent of agents) {
      const broker = await startBroker();
      closers.push(broker.close);
      brokers.set(agent, broker);
      const backend = await startProgram(
        program('backend.mjs'),
        ['run', '--config', await writeBackendConfig(setting, agent, broker)],
        (line) => textOf(line, 'msg') === 'listening for token requests',
      );
      closers.push(backend.close);
    }
    return setting;
  } catch (error) {
    await close();
    throw error;
  }
}

/** Path of a shipped program, built from this source. */
export function program(name: string): string {
  return fileURLToPath(new URL(`./dist/${name}`, import.meta.url));
}

function textOf(line: unknown, key: string): string {
  const value =
    typeof line === 'object' && line !== null ? Object.entries(line).find(([k]) => k === key)?.[1] : '';
  return typeof value === 'string' ? value : '';
}

async function writeBackendConfig(
  { folder, apiKey, serviceUrl, streamUrl }: Omit<Setting, 'close'>,
  agent: string,
  broker: Broker,
): Promise<string> {
  const apiKeyFile = join(folder, 'api-key');
  await writeFile(apiKeyFile, apiKey, { mode: 0o600 });
  const file = join(folder, `${agent}-backend.json`);
  const config = {
    mqtt: { url: broker.url },
    service: { url: serviceUrl, streamUrl: streamUrl(agent), apiKeyFile },
    allow: ['bench/*'],
    limits: { burst: 100, perMinute: 600 },
  };
  await writeFile(file, JSON.stringify(config));
  return file;
}
