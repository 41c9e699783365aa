import { afterAll, afterEach, beforeAll, beforeEach, expect, type TestContext } from 'vitest';
import { Client } from './client.ts';
import { type Settings, Steering } from './steering.ts';
import type { Target } from './target.ts';

/** Options of the project's emulator, which is used if no other service is named. */
export interface StartOptions {
  readonly profile?: 'spec' | 'live';
  readonly translate?: 'transform' | 'echo' | 'silence';
  readonly setupMs?: number;
  readonly heartbeatMs?: number;
}

const DEFAULTS = { profile: 'spec', translate: 'transform', setupMs: 300, heartbeatMs: 400 } as const;
const OWN_API_KEY = 'conformance-api-key';
const OWN_JWT = 'conformance.account.jwt';
const OWN_CLIENT = { id: 'conformance-client', secret: 'conformance-secret' } as const;

interface Running {
  readonly target: Target;
  readonly steering: Steering | null;
  readonly own: boolean;
  close(): Promise<void>;
}

function required(name: string): string {
  const value = process.env[name];
  if (value === undefined || value === '') {
    throw new Error(`${name} is not set: with DRAGOMAN_CONFORMANCE_URL the suite needs it too`);
  }
  return value;
}

async function attach(url: string): Promise<Running> {
  const base = url.replace(/\/+$/, '');
  const streaming = process.env['DRAGOMAN_CONFORMANCE_STREAM_URL'] ?? base.replace(/^http/, 'ws');
  const target = {
    base,
    streaming: streaming.replace(/\/+$/, ''),
    apiKey: required('DRAGOMAN_CONFORMANCE_API_KEY'),
    jwt: required('DRAGOMAN_CONFORMANCE_JWT'),
  };
  return { target, steering: await Steering.detect(base), own: false, close: async () => {} };
}

async function start(options: StartOptions): Promise<Running> {
  const { startEmulator } = await import('../../src/emulator/server.ts');
  const emulator = await startEmulator({
    ...DEFAULTS,
    ...options,
    host: '127.0.0.1',
    port: 0,
    apiKeys: [OWN_API_KEY],
    jwts: [OWN_JWT],
    clients: [OWN_CLIENT],
  });
  const target = {
    base: emulator.url,
    streaming: emulator.url.replace(/^http/, 'ws'),
    apiKey: OWN_API_KEY,
    jwt: OWN_JWT,
  };
  return { target, steering: new Steering(emulator.url), own: true, close: () => emulator.close() };
}

/** The service under test in a test file; it is set before the first test. */
export class Service {
  #running: Running | null = null;
  #client: Client | null = null;
  readonly options: StartOptions;

  constructor(options: StartOptions) {
    this.options = options;
  }

  async open(): Promise<void> {
    const url = process.env['DRAGOMAN_CONFORMANCE_URL'];
    this.#running = url === undefined || url === '' ? await start(this.options) : await attach(url);
    const { target, steering, own } = this.#running;
    const hurry = steering === null ? null : (ms: number) => steering.advance(ms);
    this.#client = new Client(target, { settleMs: own ? 500 : 2500, hurry });
  }

  async close(): Promise<void> {
    await this.#running?.close();
    this.#running = null;
  }

  get client(): Client {
    if (this.#client === null) throw new Error('the service is not running yet');
    return this.#client;
  }

  /** Whether the suite started the service itself, with known options. */
  get own(): boolean {
    return this.#running?.own === true;
  }

  /** The service's heartbeat interval: an option of the emulator, an environment variable for another service. */
  get heartbeatMs(): number {
    const told = Number(process.env['DRAGOMAN_CONFORMANCE_HEARTBEAT_MS'] ?? 60_000);
    return this.own ? (this.options.heartbeatMs ?? DEFAULTS.heartbeatMs) : told;
  }

  /** Credentials that public clients send instead of a Bearer key at legacy creation. */
  clientPair(context: TestContext): { id: string; secret: string } {
    if (this.own) return OWN_CLIENT;
    const id = process.env['DRAGOMAN_CONFORMANCE_CLIENT_ID'] ?? '';
    const secret = process.env['DRAGOMAN_CONFORMANCE_CLIENT_SECRET'] ?? '';
    if (id === '') context.skip('DRAGOMAN_CONFORMANCE_CLIENT_ID is not set');
    return { id, secret };
  }

  /** Control of the service; skips the test with the reason if the service has none. */
  steering(context: TestContext, why: string): Steering {
    const steering = this.#running?.steering ?? null;
    if (steering === null) context.skip(`needs the emulator's /emulator endpoints: ${why}`);
    return steering as Steering;
  }

  /**
   * The time on the service's clock, if that is this machine's clock. Skips the test for a service on another machine.
   */
  now(context: TestContext): number {
    if (!this.own)
      context.skip("compares with this machine's clock: needs a service that the suite starts itself");
    return Date.now() + (this.#running?.steering?.advancedMs ?? 0);
  }

  /** Cleans up after a test: streams, sessions and settings. */
  async tidy(): Promise<void> {
    const frames = (await this.#client?.closeStreams()) ?? { junk: [], misshapen: [] };
    await this.#running?.steering?.restore();
    await this.#client?.revokeAll();
    expect(frames.junk, 'every frame is a JSON object').toEqual([]);
    // A live service sometimes sends frames without message_type, which clients ignore.
    if (this.options.profile !== 'live') {
      expect(frames.misshapen, 'every frame is {message_type, data} (4.7)').toEqual([]);
    }
  }
}

/**
 * Connects a test file with the service under test: `DRAGOMAN_CONFORMANCE_URL` if it is set, otherwise a new emulator with
 * `options`.
 */
export function useService(options: StartOptions = {}): Service {
  const service = new Service(options);
  beforeAll(() => service.open());
  beforeEach((context) => {
    const told = process.env['DRAGOMAN_CONFORMANCE_PROFILE'] ?? 'spec';
    const profile = options.profile ?? DEFAULTS.profile;
    if (!service.own && told !== profile)
      context.skip(`DRAGOMAN_CONFORMANCE_PROFILE is ${told}, not ${profile}`);
  });
  afterEach(() => service.tidy());
  afterAll(() => service.close());
  return service;
}

/** Settings of a test, which are restored after it. */
export type { Settings };
