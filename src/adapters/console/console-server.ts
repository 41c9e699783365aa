/** Serves the owner's console over HTTP or HTTPS: the page, its files, and what the routes answer. */
import {
  createServer,
  type IncomingMessage,
  type RequestListener,
  type Server,
  type ServerResponse,
} from 'node:http';
import { createServer as createTlsServer, type Server as TlsServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import type { TLSSocket } from 'node:tls';
import { PAGE_HEADERS } from '../screen/page.ts';
import { type ConsoleFiles, consolePage, fileOf } from './console-files.ts';
import type { ConsoleAnswer, ConsoleOutcome, ConsoleRequest, EventSink } from './console-request.ts';
import { TooLarge } from './console-request.ts';
import { createWhence, type Whence } from './whence.ts';

const MOST_CONNECTIONS = 1000;
const REQUEST_TIMEOUT_MS = 30_000;
const HEADERS_TIMEOUT_MS = 10_000;
const ASSETS_PATH = '/assets/';

export interface ConsoleServerOptions {
  readonly host: string;
  /** 0: any free port. */
  readonly port: number;
  readonly tls: { readonly cert: string; readonly key: string } | null;
  readonly trustedProxies: readonly string[];
  readonly files: ConsoleFiles;
  /** Answers `/api/...`. It must not reject. */
  readonly api: (request: ConsoleRequest) => Promise<ConsoleOutcome>;
}

export interface ConsoleServer {
  readonly url: string;
  /** Uses a renewed certificate for new connections. */
  renew(tls: { readonly cert: string; readonly key: string }): void;
  close(): Promise<void>;
}

/** @throws an error of the system, such as a port that is in use */
export async function openConsoleServer(options: ConsoleServerOptions): Promise<ConsoleServer> {
  const { host, tls, files, api } = options;
  const whence = createWhence(options.trustedProxies);
  const page = fileOf(consolePage(), 'text/html; charset=utf-8');
  const listener: RequestListener = (request, response) => {
    for (const [name, value] of Object.entries(PAGE_HEADERS)) response.setHeader(name, value);
    const { pathname, searchParams } = addressOf(request.url);
    if (pathname.startsWith('/api/')) {
      const from = whence({
        headers: request.headers,
        remoteAddress: request.socket.remoteAddress,
        isEncrypted: (request.socket as Partial<TLSSocket>).encrypted === true,
      });
      const asked = toRequest(request, pathname, searchParams, from);
      void api(asked).then((outcome) => carryOut(outcome, request, response));
      return;
    }
    if (request.method !== 'GET' && request.method !== 'HEAD')
      return send(response, {
        status: 405,
        type: 'text/plain; charset=utf-8',
        body: 'Only GET is possible.\n',
      });
    if (!pathname.startsWith(ASSETS_PATH)) return sendFile(request, response, page);
    const file = files.get(pathname.slice(ASSETS_PATH.length));
    if (file !== undefined) return sendFile(request, response, file);
    send(response, { status: 404, type: 'text/plain; charset=utf-8', body: 'There is no such file.\n' });
  };
  const limits = {
    requestTimeout: REQUEST_TIMEOUT_MS,
    headersTimeout: HEADERS_TIMEOUT_MS,
    maxHeaderSize: 16_384,
  };
  const server: Server | TlsServer =
    tls === null ? createServer(limits, listener) : createTlsServer({ ...limits, ...tls }, listener);
  server.maxConnections = MOST_CONNECTIONS;
  server.on('clientError', (_problem, socket) => socket.destroy());
  server.on('tlsClientError', () => {});
  await listen(server, options.port, host);
  const { port } = server.address() as AddressInfo;
  return {
    url: `${tls === null ? 'http' : 'https'}://${host.includes(':') ? `[${host}]` : host}:${port}`,
    renew(next) {
      if ('setSecureContext' in server) server.setSecureContext(next);
    },
    async close() {
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      server.closeAllConnections();
      await closed;
    },
  };
}

function addressOf(url = '/'): { pathname: string; searchParams: URLSearchParams } {
  // "//host/path" would be read as a host.
  const text = `http://console${url.startsWith('/') ? '' : '/'}${url}`;
  return URL.canParse(text) ? new URL(text) : new URL('http://console/');
}

function toRequest(
  request: IncomingMessage,
  path: string,
  query: URLSearchParams,
  from: Whence,
): ConsoleRequest {
  const { method = 'GET', headers } = request;
  return { method, path, query, headers, ...from, body: (most) => readBody(request, most) };
}

async function readBody(request: IncomingMessage, mostBytes: number): Promise<string> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    bytes += chunk.byteLength;
    if (bytes > mostBytes) throw new TooLarge(`the body must have at most ${mostBytes} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}

function carryOut(outcome: ConsoleOutcome, request: IncomingMessage, response: ServerResponse): void {
  if (outcome.kind === 'answer') {
    // Otherwise the unread rest of the body would be parsed as the next request.
    if (!request.complete) response.setHeader('Connection', 'close');
    return send(response, outcome.answer, request.method === 'HEAD');
  }
  response.writeHead(200, { 'Content-Type': 'text/event-stream', 'X-Accel-Buffering': 'no' });
  response.flushHeaders();
  request.socket.setNoDelay(true);
  const sink: EventSink = {
    write(...parts) {
      if (response.destroyed) return;
      response.cork();
      for (const part of parts) response.write(part);
      response.uncork();
    },
    get unread() {
      return response.writableLength;
    },
    close: () => response.destroy(),
  };
  const gone = outcome.open(sink);
  response.on('error', () => {});
  response.on('close', gone);
}

function sendFile(
  { headers, method }: IncomingMessage,
  response: ServerResponse,
  { type, body, zipped }: { type: string; body: Buffer; zipped: Buffer },
): void {
  const isZipped = /\bgzip\b/.test(String(headers['accept-encoding'] ?? ''));
  response.setHeader('Vary', 'Accept-Encoding');
  if (isZipped) response.setHeader('Content-Encoding', 'gzip');
  send(response, { status: 200, type, body: isZipped ? zipped : body }, method === 'HEAD');
}

function send(
  response: ServerResponse,
  { status, type, body, headers = {} }: ConsoleAnswer,
  isHead = false,
): void {
  const length = Buffer.byteLength(body);
  response.writeHead(status, { ...headers, 'Content-Type': type, 'Content-Length': length });
  response.end(isHead ? undefined : body);
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
