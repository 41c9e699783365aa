/** Broker, service and backend on loopback, with a record of all messages and log lines. */
import { afterEach } from 'vitest';
import { createSystemClock } from '../../src/adapters/clock.ts';
import { fileOf } from '../../src/adapters/console/console-files.ts';
import { createLogger } from '../../src/adapters/log.ts';
import type { MqttBus } from '../../src/adapters/mqtt/bus.ts';
import type { PrivateKey } from '../../src/adapters/signing/signing-keys.ts';
import { type Backend, startBackend } from '../../src/backend/daemon/backend.ts';
import { type Broker, startBroker } from '../../src/cli/demo/broker.ts';
import { type Emulator, type EmulatorOptions, startEmulator } from '../../src/emulator/server.ts';
import type { BusMessage, PublishOptions } from '../../src/ports/bus.ts';
import type { Clock } from '../../src/ports/clock.ts';
import type { Store } from '../../src/ports/store.ts';
import { backendConfigSchema } from '../../src/protocol/backend-config.ts';
import { type TokenResponse, tokenResponseSchema } from '../../src/protocol/mqtt/token.ts';
import { createTestBuses, type OpenedBus } from '../adapters/mqtt/test-buses.ts';
import { until } from '../until.ts';

export const PREFIX = 'dragoman/v1';
export const API_KEY = 'account-key-that-nobody-may-see';
export const STREAM_URL = 'wss://stream.example/streaming-api/{random_hash}/v1/speech-to-speech/stream';

export interface FixtureOptions {
  /** A running broker to use instead of the embedded one. */
  readonly brokerUrl?: string;
  /** Address of a service instead of the emulator. */
  readonly serviceUrl?: string;
  readonly emulator?: EmulatorOptions;
  /** Longest wait for the service (s). */
  readonly serviceTimeout?: number;
  readonly config?: object;
  readonly apiKey?: string;
  readonly signingKey?: PrivateKey;
  readonly storePassword?: string;
  readonly webhookSecret?: string;
  /** Default: the machine's. */
  readonly clock?: Clock;
  /** A store instead of the configured one. */
  readonly store?: () => Store;
  /** Longest wait for requests at the end (ms). */
  readonly closeWithinMs?: number;
}

/** Interval of a device's requests, and the end of its patience (ms). */
const REPEAT_MS = 15_000;
const PATIENCE_MS = 180_000;

/** Fixtures so far: two at one broker must not take over each other's connections. */
let fixtures = 0;

export async function startFixture(options: FixtureOptions = {}) {
  fixtures += 1;
  const broker: Broker | null = options.brokerUrl === undefined ? await startBroker() : null;
  const brokerUrl = options.brokerUrl ?? broker?.url ?? '';
  const emulator: Emulator | null =
    options.serviceUrl === undefined
      ? await startEmulator({ apiKeys: [API_KEY], ...options.emulator })
      : null;
  const lines: string[] = [];
  const log = createLogger({ level: 'trace', format: 'json', sink: { write: (line) => lines.push(line) } });
  const backend: Backend = await startBackend({
    config: backendConfigSchema.parse({
      mqtt: { url: brokerUrl },
      service: {
        url: options.serviceUrl ?? emulator?.url,
        streamUrl: STREAM_URL,
        timeout: options.serviceTimeout ?? 5,
      },
      allow: ['museum/*'],
      ...options.config,
    }),
    secrets: {
      apiKey: () => options.apiKey ?? API_KEY,
      ...(options.signingKey && { signingKey: options.signingKey }),
      ...(options.storePassword !== undefined && { storePassword: () => options.storePassword ?? '' }),
      ...(options.webhookSecret !== undefined && { webhookSecret: () => options.webhookSecret ?? '' }),
    },
    log,
    consoleFiles: new Map([['console.js', fileOf('"page";', 'text/javascript; charset=utf-8')]]),
    ...(options.clock && { clock: options.clock }),
    ...(options.store && { store: options.store() }),
    ...(options.closeWithinMs !== undefined && { closeWithinMs: options.closeWithinMs }),
  });
  const buses = createTestBuses(createSystemClock());
  /** Receives every published message. */
  const witness = buses.open(
    { url: brokerUrl, clientId: `witness-${fixtures}` },
    { subscriptions: [`${PREFIX}/#`, 'other/#'] },
  );
  const sender = buses.open({ url: brokerUrl, clientId: `sender-${fixtures}` });
  await until(() => backend.connected && witness.ups.length > 0 && sender.ups.length > 0, 'the broker');

  const answersTo = (device: string): TokenResponse[] =>
    witness.messages
      .filter(({ topic }) => topic === `${PREFIX}/museum/${device}/token/res`)
      .map(({ payload }) => tokenResponseSchema.parse(JSON.parse(payload)));
  const request = (id: string, more: object = {}) =>
    JSON.stringify({
      id,
      lane: 'main',
      intent: 's2s',
      connection_type: 'ws',
      reason: 'start',
      attempt: 1,
      ...more,
    });

  return {
    broker,
    brokerUrl,
    emulator,
    backend,
    buses,
    witness,
    lines,
    answersTo,
    request,
    bus: sender.bus as MqttBus,
    send(device: string, payload: string, more: PublishOptions = {}): void {
      sender.bus.publish(`${PREFIX}/museum/${device}/token/req`, payload, more);
    },
    /** Asks as a device and waits for the answer. Repeats the request as a device does, but later: only a very busy machine needs it. */
    async ask(device: string, id: string, more: { attempt?: number; [key: string]: unknown } = {}) {
      const before = answersTo(device).length;
      const ends = performance.now() + PATIENCE_MS;
      for (let { attempt = 1 } = more; ; attempt += 1) {
        sender.bus.publish(`${PREFIX}/museum/${device}/token/req`, request(id, { ...more, attempt }));
        const again = performance.now() + REPEAT_MS;
        await until(
          () => answersTo(device).length > before || performance.now() > again,
          `the answer to ${id}`,
        );
        if (answersTo(device).length > before) break;
        if (performance.now() > ends) throw new Error(`no answer to ${id}`);
      }
      const answer = answersTo(device).at(-1);
      if (answer === undefined) throw new Error('no answer');
      return answer;
    },
    /** Waits until earlier messages have taken effect: a later request of another device has its answer. */
    async settle(): Promise<void> {
      const device = `marker-${Math.floor(performance.now() * 1000)}`;
      sender.bus.publish(`${PREFIX}/museum/${device}/token/req`, request('marker', { intent: 'stt' }));
      await until(() => answersTo(device).length > 0, 'the marker');
    },
    async close(): Promise<void> {
      await backend.close();
      await buses.closeAll();
      await emulator?.close();
      await broker?.close();
    },
  };
}
export type Fixture = Awaited<ReturnType<typeof startFixture>>;
export type { BusMessage, OpenedBus };

/** The session of a granted request; throws for a denial. */
export function sessionOf(answer: TokenResponse): { id: string; token: string; [key: string]: unknown } {
  if (!answer.ok || !('token' in answer.session)) throw new Error(`denied: ${JSON.stringify(answer)}`);
  return answer.session as { id: string; token: string };
}

export function errorOf(answer: TokenResponse) {
  if (answer.ok) throw new Error('granted');
  return answer.error;
}

/** One fixture for each test, closed after it. */
export function fixtureOfEachTest() {
  let fixture: Fixture | null = null;
  afterEach(async () => {
    await fixture?.close();
    fixture = null;
  });
  return {
    async start(options: FixtureOptions = {}): Promise<Fixture> {
      fixture = await startFixture(options);
      return fixture;
    },
    sessionsAtService: () => fixture?.emulator?.service.sessions.list(['temporary']) ?? [],
  };
}
