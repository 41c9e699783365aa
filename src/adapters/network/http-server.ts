/** The one way to open an HTTP server: incomplete requests, idle connections and slow readers cannot block it. */
import {
  createServer,
  type IncomingMessage,
  type RequestListener,
  type Server,
  type ServerResponse,
} from 'node:http';
import { createServer as createTlsServer, type Server as TlsServer } from 'node:https';
import type { AddressInfo, Socket } from 'node:net';
import {
  type Caller,
  type CrowdLimits,
  crowdedOut,
  keepsUp,
  type Reading,
} from '../../core/network/crowd.ts';
import type { Clock } from '../../ports/clock.ts';
import { networkOf } from '../../protocol/ip-address.ts';

/** Timeout for the TLS handshake, and for the head of a request after the handshake or the previous response. */
const HEAD_WITHIN_MS = 10_000;
/** Timeout from the first byte of a request to its last one. */
const REQUEST_WITHIN_MS = 30_000;
/** Interval at which request timeouts are checked. Node's default interval of 30 s would prolong each of them by up to 30 s. */
const LOOK_EACH_MS = 1000;
/** Concurrent requests of an address, for each connection that it may have. Clients of apt pipeline ten. */
const ANSWERED_AT_ONCE = 4;
/** Interval of the checks for slow readers, while responses are in progress. */
const WATCH_EACH_MS = 10_000;

export interface HttpServerOptions {
  readonly host: string;
  /** 0: any free port. */
  readonly port: number;
  /** Null: without TLS. */
  readonly tls?: { readonly cert: string; readonly key: string } | null;
  readonly limits: CrowdLimits;
  /** Whether several customers share an address, as behind a proxy; absent: none is shared. */
  readonly isShared?: (address: string) => boolean;
  readonly maxHeaderSize?: number;
  readonly clock: Clock;
  /** Override the defaults of 10 s and 30 s. */
  readonly headWithinMs?: number;
  readonly requestWithinMs?: number;
  readonly listener: RequestListener;
}

export interface HttpServer {
  readonly port: number;
  /** Connections that are open. */
  readonly connections: number;
  /** Keeps room for the connection of a request from a person who is signed in. */
  know(request: IncomingMessage): void;
  /** Uses a renewed certificate for new connections. */
  renew(tls: { readonly cert: string; readonly key: string }): void;
  close(): Promise<void>;
}

interface Connection {
  readonly address: string | null;
  readonly number: number;
  readonly socket: Socket;
  /** The request that is being answered; null: none. */
  request: IncomingMessage | null;
  reading: Reading;
  isKnown: boolean;
}

/** @throws an error of the system, such as a port that is in use */
export async function openHttpServer(options: HttpServerOptions): Promise<HttpServer> {
  const { host, port, tls = null, limits, clock, listener, isShared = () => false } = options;
  const { headWithinMs = HEAD_WITHIN_MS, requestWithinMs = REQUEST_WITHIN_MS } = options;
  const connections = new Map<string, Connection>();
  let count = 0;
  let cancelWatch: (() => void) | null = null;

  const drop = (name: string): void => {
    connections.get(name)?.socket.destroy();
    // Removed at once, because more callers may come before the socket is closed.
    connections.delete(name);
  };
  const watch = (): void => {
    cancelWatch ??= clock.at(clock.now() + WATCH_EACH_MS, () => {
      cancelWatch = null;
      for (const [name, connection] of connections) {
        if (connection.request === null) continue;
        const next = keepsUp(connection.reading, clock.now(), takenFrom(connection.request.socket));
        if (next === null) drop(name);
        else connection.reading = next;
        watch();
      }
    });
  };
  const answered = new Map<string, number>();
  /** False: the address has too many requests in flight, each of which would cost a store access. */
  const mayAnswer = (address: string | null, response: ServerResponse): boolean => {
    if (address === null) return true;
    const count = answered.get(address) ?? 0;
    if (count >= ANSWERED_AT_ONCE * limits.mostOfAddress) return false;
    answered.set(address, count + 1);
    response.on('close', () => {
      const left = (answered.get(address) ?? 1) - 1;
      if (left > 0) answered.set(address, left);
      else answered.delete(address);
    });
    return true;
  };
  const answer: RequestListener = (request, response) => {
    const name = nameOf(request.socket);
    const connection = connections.get(name);
    // Node still parses requests that a connection had sent before it was dropped.
    if (request.socket.destroyed) return;
    if (connection !== undefined) {
      if (!mayAnswer(connection.address, response)) return drop(name);
      connection.request = request;
      connection.reading = { since: clock.now(), taken: takenFrom(request.socket).taken };
      response.on('close', () => {
        if (connection.request === request) connection.request = null;
      });
      watch();
    }
    listener(request, response);
  };
  const times = {
    headersTimeout: headWithinMs,
    requestTimeout: requestWithinMs,
    connectionsCheckingInterval: Math.min(LOOK_EACH_MS, headWithinMs),
    ...(options.maxHeaderSize !== undefined && { maxHeaderSize: options.maxHeaderSize }),
  };
  const server: Server | TlsServer =
    tls === null
      ? createServer(times, answer)
      : createTlsServer({ ...times, handshakeTimeout: headWithinMs, ...tls }, answer);
  server.on('connection', (socket: Socket) => {
    const { remoteAddress = '' } = socket;
    const address = isShared(remoteAddress) ? null : networkOf(remoteAddress);
    const leaving = crowdedOut([...connections].map(callerOf), address, limits);
    if (leaving !== null) drop(leaving.name);
    count += 1;
    const reading = { since: clock.now(), taken: 0 };
    const connection = { address, number: count, socket, request: null, reading, isKnown: false };
    const name = nameOf(socket);
    connections.set(name, connection);
    socket.on('close', () => {
      if (connections.get(name) === connection) connections.delete(name);
    });
  });
  server.on('clientError', (_problem, socket) => socket.destroy());
  server.on('tlsClientError', (_problem, socket) => socket.destroy());
  await listen(server, port, host);
  return {
    port: (server.address() as AddressInfo).port,
    get connections() {
      return connections.size;
    },
    know(request) {
      const connection = connections.get(nameOf(request.socket));
      if (connection !== undefined) connection.isKnown = true;
    },
    renew(next) {
      if ('setSecureContext' in server) server.setSecureContext(next);
    },
    async close() {
      cancelWatch?.();
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      // The HTTP server does not close connections that have not completed their TLS handshake.
      for (const { socket } of connections.values()) socket.destroy();
      server.closeAllConnections();
      await closed;
    },
  };
}

/** The name is the same for a connection and for the TLS socket on it. */
const nameOf = ({ remoteAddress, remotePort }: Socket): string => `${remoteAddress} ${remotePort}`;

const takenFrom = ({ bytesWritten, writableLength }: Socket) => ({
  taken: bytesWritten - writableLength,
  waiting: writableLength,
});

function callerOf([name, connection]: [string, Connection]): Caller & { readonly name: string } {
  const { address, number, request, isKnown } = connection;
  const stage = isKnown ? 'known' : request?.complete === true ? 'answered' : 'asking';
  return { name, address, number, stage };
}

function listen(server: Server | TlsServer, port: number, host: string): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, host, () => {
      server.off('error', reject);
      // A failure to accept a connection must not reach the process.
      server.on('error', () => {});
      resolve();
    });
  });
}
