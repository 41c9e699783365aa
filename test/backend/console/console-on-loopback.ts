/** A backend with its console on loopback, people of each role, and devices that a test plays. */
import { randomBytes, scryptSync } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach } from 'vitest';
import { createSystemClock } from '../../../src/adapters/clock.ts';
import { type ConsoleFiles, fileOf } from '../../../src/adapters/console/console-files.ts';
import { createLogger } from '../../../src/adapters/log.ts';
import type { MqttConnection } from '../../../src/adapters/mqtt/bus.ts';
import type { PrivateKey } from '../../../src/adapters/signing/signing-keys.ts';
import { type Backend, startBackend } from '../../../src/backend/daemon/backend.ts';
import { openConsoleStore } from '../../../src/backend/store/open-store.ts';
import { type Broker, startBroker } from '../../../src/cli/demo/broker.ts';
import type { Clock } from '../../../src/ports/clock.ts';
import { backendConfigSchema } from '../../../src/protocol/backend-config.ts';
import type { FleetViewInput } from '../../../src/protocol/console-fleet.ts';
import type { ConsoleRole } from '../../../src/protocol/console-routes.ts';
import type { StreamDiff, StreamSnapshot } from '../../../src/protocol/console-stream.ts';
import { createTestBuses } from '../../adapters/mqtt/test-buses.ts';
import { until } from '../../until.ts';

export const PREFIX = 'dragoman/v1';
export const PASSWORD = 'correct horse battery';
/** The hash names its cost. With the cost of real people each sign-in takes 80 ms of computing. */
export const PASSWORD_HASH = cheapHash(PASSWORD);
const EVERY_DEVICE = [`${PREFIX}/+/+/cmd/+`, `${PREFIX}/+/+/config/desired`];
const FILES = new Map([['console.js', fileOf('"page";', 'text/javascript; charset=utf-8')]]);

const PEOPLE: readonly (readonly [name: string, role: ConsoleRole])[] = [
  ['ann', 'administrator'],
  ['otto', 'operator'],
  ['vic', 'viewer'],
];

function cheapHash(password: string): string {
  const salt = randomBytes(16);
  const key = scryptSync(password, salt, 32, { N: 16, r: 1, p: 1 });
  return ['scrypt', 16, 1, 1, salt.toString('base64url'), key.toString('base64url')].join('$');
}

/** The backend's login, and that of the one device that the test plays. */
export interface Logins {
  readonly backend: { readonly username: string; readonly password: string; readonly ca: Buffer };
  readonly device: Partial<MqttConnection>;
  readonly subscriptions: readonly string[];
}

export interface StartOptions {
  readonly store?: { path: string } | { url: string };
  readonly storePassword?: string;
  readonly config?: object;
  readonly signingKey?: PrivateKey;
  readonly broker?: Pick<Broker, 'url' | 'close'>;
  /** For a broker that knows its clients. */
  readonly logins?: Logins;
  /** Default: the machine's. */
  readonly clock?: Clock;
  /** Left out: a page that does nothing. */
  readonly files?: ConsoleFiles;
}

export async function startConsoleFixture(options: StartOptions = {}) {
  const folder = mkdtempSync(join(tmpdir(), 'dragoman-console-'));
  const broker = options.broker ?? (await startBroker());
  const store = options.store ?? { path: join(folder, 'store.db') };
  const lines: string[] = [];
  const log = createLogger({ level: 'trace', format: 'json', sink: { write: (line) => lines.push(line) } });
  const config = backendConfigSchema.parse({
    mqtt: { url: broker.url, username: options.logins?.backend.username ?? null },
    service: { url: 'http://127.0.0.1:9', streamUrl: 'wss://stream.example/x' },
    allow: ['museum/*'],
    store,
    console: { listen: '127.0.0.1:0' },
    ...options.config,
  });
  const storePassword = () => options.storePassword ?? '';
  const people = openConsoleStore(config.store, storePassword);
  for (const [name, role] of PEOPLE) await people.addPerson({ name, role, passwordHash: PASSWORD_HASH });
  await people.close();
  const start = (): Promise<Backend> =>
    startBackend({
      config,
      log,
      consoleFiles: options.files ?? FILES,
      ...(options.clock && { clock: options.clock }),
      secrets: {
        apiKey: () => 'an account key',
        storePassword,
        ...(options.logins && {
          mqttPassword: () => options.logins?.backend.password ?? '',
          brokerTls: { ca: options.logins.backend.ca },
        }),
        ...(options.signingKey && { signingKey: options.signingKey }),
      },
    });
  let backend = await start();
  const buses = createTestBuses(createSystemClock());
  const device = buses.open(
    { url: broker.url, clientId: 'devices', ...options.logins?.device },
    { subscriptions: options.logins?.subscriptions ?? EVERY_DEVICE },
  );
  await until(() => device.ups.length > 0, 'the broker');
  const cookies = new Map<string, string>();
  const at = (): string => backend.consoleAt ?? '';

  const fixture = {
    broker,
    lines,
    device,
    config,
    get url() {
      return at();
    },
    /** Publishes as a device. */
    say(name: string, topic: string, body: object | string, retain = true): void {
      const payload = typeof body === 'string' ? body : JSON.stringify(body);
      device.bus.publish(`${PREFIX}/${name}/${topic}`, payload, { qos: 1, retain });
    },
    status(name: string, status = 'ready', more: object = {}): void {
      const body = { ts: '2026-11-27T10:00:00.000Z', status, boot_id: 'b', conn_seq: 1, version: '1.0.0' };
      fixture.say(name, 'status', { ...body, reasons: [], ...more });
    },
    /** @param who null: signed out */
    async ask(
      who: string | null,
      method: string,
      path: string,
      body?: unknown,
      headers: Record<string, string> = {},
    ) {
      const response = await fetch(`${at()}${path}`, {
        method,
        headers: {
          ...(who !== null && { cookie: cookies.get(who) ?? '' }),
          ...(method === 'POST' && { origin: at(), 'content-type': 'application/json' }),
          ...headers,
        },
        ...(body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
      });
      const text = await response.text();
      const json = response.headers.get('content-type')?.startsWith('application/json')
        ? JSON.parse(text)
        : null;
      return { status: response.status, text, json, headers: response.headers };
    },
    async signIn(name: string, password = PASSWORD): Promise<number> {
      const { status, headers } = await fixture.ask(null, 'POST', '/api/sign-in', { name, password });
      const cookie = headers.get('set-cookie')?.split(';')[0];
      if (cookie !== undefined) cookies.set(name, cookie);
      return status;
    },
    cookieOf: (name: string): string => cookies.get(name) ?? '',
    /** Opens a stream and follows it. */
    stream: (who: string, view: FleetViewInput = {}, device?: string) =>
      openStream(at(), cookies.get(who) ?? '', view, device),
    /** Ends the backend and starts it again. */
    async restart(): Promise<void> {
      const before = new URL(at()).port;
      await backend.close();
      backend = await start();
      // The port is another one only in tests, and it is part of the cookie's name.
      for (const [who, cookie] of cookies)
        cookies.set(who, cookie.replace(`-${before}=`, `-${new URL(at()).port}=`));
    },
    async close(): Promise<void> {
      await backend.close();
      await buses.closeAll();
      if (options.broker === undefined) await broker.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
  return fixture;
}
export type ConsoleFixture = Awaited<ReturnType<typeof startConsoleFixture>>;

/** What a page would know after all messages so far. */
export async function openStream(url: string, cookie: string, view: FleetViewInput, device?: string) {
  const abort = new AbortController();
  const query = new URLSearchParams({ view: JSON.stringify(view), ...(device !== undefined && { device }) });
  const response = await fetch(`${url}/api/stream?${query}`, { headers: { cookie }, signal: abort.signal });
  const diffs: StreamDiff[] = [];
  const state = {
    status: response.status,
    snapshot: null as StreamSnapshot | null,
    diffs,
    bytes: 0,
    end: null as string | null,
    isClosed: false,
    close: () => abort.abort(),
  };
  const read = async (): Promise<void> => {
    const decoder = new TextDecoder();
    let text = '';
    for await (const chunk of response.body as unknown as AsyncIterable<Uint8Array>) {
      state.bytes += chunk.byteLength;
      text += decoder.decode(chunk, { stream: true });
      const parts = text.split('\n\n');
      text = parts.pop() ?? '';
      for (const part of parts) {
        const event = /^event: (.*)$/m.exec(part)?.[1];
        const data = JSON.parse(/^data: (.*)$/m.exec(part)?.[1] ?? 'null');
        if (event === 'snapshot') state.snapshot = data;
        if (event === 'diff') diffs.push(data);
        if (event === 'end') state.end = data.code;
      }
    }
  };
  void read()
    .catch(() => {})
    .finally(() => {
      state.isClosed = true;
    });
  if (response.status === 200) await until(() => state.snapshot !== null, 'the snapshot');
  return state;
}

/** One fixture for each test, closed after it. */
export function consoleOfEachTest() {
  let fixture: ConsoleFixture | null = null;
  afterEach(async () => {
    await fixture?.close();
    fixture = null;
  });
  return {
    async start(options: StartOptions = {}, signedIn: readonly string[] = []): Promise<ConsoleFixture> {
      fixture = await startConsoleFixture(options);
      for (const name of signedIn) await fixture.signIn(name);
      return fixture;
    },
  };
}
