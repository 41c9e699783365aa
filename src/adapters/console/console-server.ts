/** Serves the owner's console over HTTP or HTTPS: the page, its files, and what the routes answer. */
import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import type { TLSSocket } from 'node:tls';
import type { Clock } from '../../ports/clock.ts';
import type { ConsoleProblem } from '../../protocol/console-routes.ts';
import { openHttpServer } from '../network/http-server.ts';
import { PAGE_HEADERS } from '../screen/page.ts';
import { type ConsoleFiles, consolePage, fileOf } from './console-files.ts';
import type { ConsoleAnswer, ConsoleOutcome, ConsoleRequest, EventSink } from './console-request.ts';
import { jsonAnswer, TooLarge } from './console-request.ts';
import { createOwnNames } from './own-names.ts';
import { createWhence, type Whence } from './whence.ts';

/** An office shares one address, and each browser opens six connections and a stream for each page. */
const LIMITS = { most: 1000, mostOfAddress: 250 } as const;
const ASSETS_PATH = '/assets/';

export interface ConsoleServerOptions {
  readonly host: string;
  /** 0: any free port. */
  readonly port: number;
  readonly tls: { readonly cert: string; readonly key: string } | null;
  readonly trustedProxies: readonly string[];
  /** Further names at which the console answers. */
  readonly hosts: readonly string[];
  readonly files: ConsoleFiles;
  readonly clock: Clock;
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
  const { host, port, tls, files, api, clock } = options;
  const whence = createWhence(options.trustedProxies);
  const own = createOwnNames(options.hosts, tls?.cert ?? null);
  const page = fileOf(consolePage(), 'text/html; charset=utf-8');
  const listener: RequestListener = (request, response) => {
    for (const [name, value] of Object.entries(PAGE_HEADERS)) response.setHeader(name, value);
    const { pathname, searchParams } = addressOf(request.url);
    const { localAddress = '', remoteAddress } = request.socket;
    const from = whence.read({
      headers: request.headers,
      remoteAddress,
      isEncrypted: (request.socket as Partial<TLSSocket>).encrypted === true,
    });
    const objection = own.objectionTo({ hosts: from.hosts, localAddress, isProxied: from.isProxied });
    if (objection !== null) {
      response.setHeader('Connection', 'close');
      return send(response, misdirected(pathname, objection));
    }
    if (pathname.startsWith('/api/')) {
      const asked = toRequest(request, pathname, searchParams, { ...from, know: () => server.know(request) });
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
  const server = await openHttpServer({
    host,
    port,
    tls,
    clock,
    listener,
    limits: LIMITS,
    maxHeaderSize: 16_384,
    isShared: whence.isTrusted,
  });
  return {
    url: `${tls === null ? 'http' : 'https'}://${host.includes(':') ? `[${host}]` : host}:${server.port}`,
    renew(next) {
      server.renew(next);
      own.renew(next.cert);
    },
    close: server.close,
  };
}

function misdirected(path: string, message: string): ConsoleAnswer {
  const problem: ConsoleProblem = { code: 'host', message };
  return path.startsWith('/api/')
    ? jsonAnswer(421, { error: problem })
    : { status: 421, type: 'text/plain; charset=utf-8', body: `${message}\n` };
}

function addressOf(url = '/'): { pathname: string; searchParams: URLSearchParams } {
  // `URL` would take the beginning of "//host/path" for a host.
  const text = `http://console${url.startsWith('/') ? '' : '/'}${url}`;
  return URL.canParse(text) ? new URL(text) : new URL('http://console/');
}

function toRequest(
  request: IncomingMessage,
  path: string,
  query: URLSearchParams,
  from: Whence & Pick<ConsoleRequest, 'know'>,
): ConsoleRequest {
  const { method = 'GET', headers } = request;
  const { address, isSecure, origin, know } = from;
  return {
    method,
    path,
    query,
    headers,
    address,
    isSecure,
    origin,
    know,
    body: (most) => readBody(request, most),
  };
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
