import { randomBytes } from 'node:crypto';
import { createServer, type RequestListener, type Server } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { getRequestListener } from '@hono/node-server';
import { createSystemClock } from '../adapters/clock.ts';
import { loadSpeechDetector } from '../adapters/voice/speech-detector.ts';
import type { Clock } from '../ports/clock.ts';
import { asWall } from '../protocol/common/time.ts';
import { speakPlainly } from '../protocol/plain-issues.ts';
import { createApp } from './app.ts';
import { type Choices, type Profile, resolveChoices } from './core/choices.ts';
import { parseFaults } from './core/fault.ts';
import type { PhraseBook } from './core/phrase-book.ts';
import { refuse } from './core/refusal.ts';
import { createService, type Service } from './core/service.ts';
import type { StreamReport } from './core/stream-report.ts';
import { createDoor } from './listener.ts';
import { answerFacts, createRequestLog, type RequestEntry } from './request-log.ts';
import { createPlumbing, type Plumbing } from './reset.ts';
import { createRuntime, type Runtime } from './runtime.ts';
import { findSpeechEngine } from './speak.ts';
import { answer, createStreamGate } from './stream-gate.ts';

/** Default credentials. */
export const DEFAULT_API_KEY = 'emulator-api-key';
export const DEFAULT_JWT = 'emulator.account.jwt';
const DEFAULT_CLIENT = { id: 'emulator-client', secret: 'emulator-secret' } as const;

/** Maximum number of open sockets, streams and requests together. */
const MOST_SOCKETS = 4000;
/** Status of the answer to unreadable requests, if it is not 400. */
const CLIENT_ERROR_STATUS: Readonly<Record<string, number>> = {
  HPE_HEADER_OVERFLOW: 431,
  ERR_HTTP_REQUEST_TIMEOUT: 408,
};
/** Time that the service shows on a machine whose clock was never set. */
const UNSET_CLOCK_MS = asWall(Date.UTC(2026, 0, 1));
/** Time limit (ms) for receiving a request: a session's few fields never take longer. */
const REQUEST_TIMEOUT_MS = 60_000;

export type EmulatorOptions = Partial<Choices> & {
  /** Address to listen on; default: loopback. */
  readonly host?: string;
  /** Further names under which clients reach the emulator, besides its address and the names of loopback. */
  readonly allowedHosts?: readonly string[];
  readonly port?: number;
  /** Certificate chain and private key (PEM); with them, the port serves `https:` and `wss:` only. */
  readonly tls?: { readonly cert: string; readonly key: string };
  readonly profile?: Profile;
  readonly apiKeys?: readonly string[];
  readonly jwts?: readonly string[];
  readonly clients?: readonly { readonly id: string; readonly secret: string }[];
  readonly clock?: Clock;
  /** Phrases of the visitors; default: the built-in book. */
  readonly phrases?: PhraseBook;
  /** Called with each request, refusal and ended stream. */
  readonly onRequest?: (entry: RequestEntry) => void;
};

/** An emulator in the caller's process, as used by tests. */
export interface Emulator {
  /** `http://host:port`, or `https:` */
  readonly url: string;
  /** `ws://host:port`, or `wss:` */
  readonly wsUrl: string;
  /** A valid key and JWT. */
  readonly apiKey: string;
  readonly jwt: string;
  /** The pure core, for inspection. */
  readonly service: Service;
  /** The voice detector in use. */
  readonly detector: 'fvad' | 'energy';
  /**
   * Orders a fault, with the same body as `POST /emulator/faults`; returns its ids.
   * @throws Error that names the problem of the body
   */
  fault(body: object): number[];
  /** One report for each stream, including closed streams, oldest first, as in `GET /emulator/metrics`. */
  reports(): StreamReport[];
  /**
   * All audio bytes that a stream received and sent, in sequence; needs `recordBytes`. Without an id: those of
   * the stream opened last.
   */
  recording(stream?: string): { received: Uint8Array; sent: Uint8Array; truncated: boolean };
  /** Advances the service's time at once. */
  advance(ms: number): Promise<void>;
  close(): Promise<void>;
}

/** Unpredictable random numbers, drawn in batches: on a shared machine, the emulator's tokens are secrets too. */
function createUnguessable(): () => number {
  let pool = Buffer.alloc(0);
  let at = 0;
  return () => {
    if (at + 6 > pool.length) {
      pool = randomBytes(6 * 512);
      at = 0;
    }
    at += 6;
    return pool.readUIntBE(at - 6, 6) / 2 ** 48;
  };
}

const SERVER_OPTIONS = {
  requestTimeout: REQUEST_TIMEOUT_MS,
  headersTimeout: 20_000,
  maxHeaderSize: 32 * 1024,
} as const;

function openServer(tls: EmulatorOptions['tls'], plumbing: Plumbing, listener: RequestListener): Server {
  if (tls === undefined) return createServer(SERVER_OPTIONS, listener);
  const server = createTlsServer({ ...SERVER_OPTIONS, ...tls }, listener);
  server.on('connection', plumbing.note);
  return server;
}

function listen(server: Server, host: string, port: number): Promise<AddressInfo> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, host, () => {
      server.off('error', reject);
      resolve(server.address() as AddressInfo);
    });
  });
}

function addressOf({ address, family, port }: AddressInfo): string {
  return family === 'IPv6' ? `[${address}]:${port}` : `${address}:${port}`;
}

/**
 * Starts an emulator of the translation service on an HTTP port, WebSocket included.
 * @throws Error for a wrong option, or if it cannot listen on the address
 */
export async function startEmulator(options: EmulatorOptions = {}): Promise<Emulator> {
  const { host = '127.0.0.1', port = 0, profile = 'spec', clock = createSystemClock(), ...rest } = options;
  const {
    apiKeys = [DEFAULT_API_KEY],
    jwts = [DEFAULT_JWT],
    clients = [DEFAULT_CLIENT],
    allowedHosts = [],
    tls,
    onRequest,
    phrases,
    ...choices
  } = rest;
  speakPlainly();
  if (host.trim() === '')
    throw new Error(
      'the address to listen on is empty; 0.0.0.0 listens everywhere, 127.0.0.1 on this machine only',
    );
  const door = createDoor(host, allowedHosts);
  const [apiKey = DEFAULT_API_KEY] = apiKeys;
  const [jwt = DEFAULT_JWT] = jwts;
  const detector = await loadSpeechDetector();
  const service = createService({
    choices: resolveChoices(profile, choices),
    keys: { apiKeys, jwts, clients },
    random: createUnguessable(),
    createDetector: detector.create,
    wallAtZero: clock.wall() ?? UNSET_CLOCK_MS,
    phrases,
  });

  let answered = 0;
  const nextInstance = (): string => `req-${++answered}`;
  let runtime: ReturnType<typeof createRuntime> | null = null;
  const getRuntime = (): Runtime => {
    if (runtime === null) throw new Error('the emulator is not running yet');
    return runtime;
  };
  const plumbing = createPlumbing();
  const requests = createRequestLog({
    wall: () => service.clockAt(getRuntime().now()),
    isCredential: (text) =>
      !['none', 'unknown'].includes(service.identify(text).kind) ||
      clients.some(({ secret }) => secret === text),
    onEntry: onRequest,
  });
  const gate = createStreamGate({ clock, service, getRuntime, nextInstance, door, plumbing, requests });
  const speak = service.choices.translate === 'speak' ? await findSpeechEngine() : null;
  runtime = createRuntime({ clock, service, perform: (effect) => gate.perform(effect), speak });

  const reset = (): void => {
    getRuntime().act(() => service.reset());
  };
  const app = createApp({ getRuntime, nextInstance, plumbing, requests, reset, detector: detector.name });
  const serve = getRequestListener(app.fetch);
  const server = openServer(tls, plumbing, (request, response) => {
    const objection = door.objectTo(request);
    if (objection === null) return void serve(request, response);
    const refusal = refuse('foreign_host', nextInstance(), [objection]);
    const { status, body } = refusal;
    requests.note({
      kind: 'http',
      method: request.method ?? null,
      url: request.url ?? '/',
      ...answerFacts(refusal),
    });
    response.writeHead(status, { 'Content-Type': 'application/json; charset=utf-8', Connection: 'close' });
    response.end(JSON.stringify(body));
  });
  server.maxConnections = MOST_SOCKETS;
  server.on('upgrade', (request, socket, head) => gate.upgrade(request, socket, head));
  server.on('clientError', (problem: NodeJS.ErrnoException, socket) => {
    const status = CLIENT_ERROR_STATUS[problem.code ?? ''] ?? 400;
    if (!socket.writable) return void socket.destroy();
    const refusal = refuse('malformed_request', nextInstance(), [], status);
    requests.note({ kind: 'http', ...answerFacts(refusal) });
    answer(socket, refusal);
  });
  const address = addressOf(await listen(server, host, port));

  const { act, close: stop } = runtime;
  const encrypted = tls === undefined ? '' : 's';
  return {
    url: `http${encrypted}://${address}`,
    wsUrl: `ws${encrypted}://${address}`,
    apiKey,
    jwt,
    service,
    detector: detector.name,
    fault(body) {
      const parsed = parseFaults(body);
      if (!parsed.ok) throw new Error(parsed.issues.join('; '));
      const added = act((now) => service.order(parsed.request, now));
      if ('problem' in added) throw new Error(added.problem);
      return added.ids;
    },
    reports: () => act((now) => service.reports(now)),
    recording(id) {
      const stream = service.stream(id);
      if (stream === undefined) throw new Error('unknown stream');
      return stream.recording.read();
    },
    advance: runtime.advance,
    async close() {
      stop();
      await gate.close();
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
