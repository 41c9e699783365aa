/** A small HTTP server for programs that watch this one. */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { isLoopback } from '../../protocol/host.ts';

/** A program that asks too often must not use up the sockets. */
const MOST_CONNECTIONS = 32;

export interface Page {
  readonly status: number;
  readonly type: string;
  readonly body: string;
}
/** Pages by their path. */
export type Pages = Readonly<Record<string, () => Promise<Page>>>;

/** Files below a path. Everybody may read them, under any name of this machine. */
export interface Files {
  readonly below: string;
  serve(request: IncomingMessage, response: ServerResponse): Promise<void>;
}

export interface WatchServer {
  readonly url: string;
  close(): Promise<void>;
}

/**
 * @param listen `host:port`
 * @throws an error of the system, such as a port that is in use
 */
export async function startWatchServer(
  listen: string,
  pages: Pages,
  files: Files | null = null,
): Promise<WatchServer> {
  const { hostname, port } = new URL(`http://${listen}`);
  const isOwn = isLoopback(hostname);
  const paths = [...Object.keys(pages), ...(files === null ? [] : [files.below])];
  const server = createServer((request, response) => {
    if (files !== null && request.url?.startsWith(files.below)) {
      void files.serve(request, response);
      return;
    }
    void answer(request, pages, paths, isOwn).then(({ status, type, body }) => {
      response.writeHead(status, { 'content-type': type, 'cache-control': 'no-store' });
      response.end(request.method === 'HEAD' ? undefined : body);
    });
  });
  server.requestTimeout = 5000;
  server.maxConnections = MOST_CONNECTIONS;
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(Number(port), hostname.replace(/^\[|\]$/g, ''), resolve);
  });
  const address = server.address();
  const opened = typeof address === 'object' ? address?.port : port;
  return {
    url: `http://${hostname}:${opened}`,
    async close() {
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      server.closeAllConnections();
      await closed;
    },
  };
}

async function answer(
  request: IncomingMessage,
  pages: Pages,
  paths: readonly string[],
  isOwn: boolean,
): Promise<Page> {
  const { method, url = '/', headers } = request;
  // Any web page can make a browser on this machine ask, under a name of its own (DNS rebinding).
  const host = URL.canParse(`http://${headers.host}`) ? new URL(`http://${headers.host}`).hostname : '';
  if (isOwn && !isLoopback(host)) return text(403, 'Ask under the name "localhost" or a loopback address.');
  if (method !== 'GET' && method !== 'HEAD') return text(405, 'Only GET is possible.');
  const path = url.split('?')[0] ?? '/';
  const page = Object.hasOwn(pages, path) ? pages[path] : undefined;
  if (page === undefined) return text(404, `There are: ${paths.join(' ')}`);
  try {
    return await page();
  } catch {
    return text(500, 'This page cannot be made now; the log says why.');
  }
}

export function text(status: number, sentence: string): Page {
  return { status, type: 'text/plain; charset=utf-8', body: `${sentence}\n` };
}

export function json(status: number, value: object): Page {
  return { status, type: 'application/json', body: `${JSON.stringify(value)}\n` };
}
