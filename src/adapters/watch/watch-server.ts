/** A small HTTP server for programs that monitor this one. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Clock } from '../../ports/clock.ts';
import { isLoopback } from '../../protocol/host-name.ts';
import { openHttpServer } from '../network/http-server.ts';

/** A museum's kiosks share an address, and fetch a new version together. */
const LIMITS = { most: 256, mostOfAddress: 64 } as const;

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
  clock: Clock,
  files: Files | null = null,
): Promise<WatchServer> {
  const { hostname, port } = new URL(`http://${listen}`);
  const isOwn = isLoopback(hostname);
  const paths = [...Object.keys(pages), ...(files === null ? [] : [files.below])];
  const server = await openHttpServer({
    host: hostname.replace(/^\[|\]$/g, ''),
    port: Number(port),
    limits: LIMITS,
    clock,
    listener(request, response) {
      if (files !== null && request.url?.startsWith(files.below)) {
        void files.serve(request, response);
        return;
      }
      void answer(request, pages, paths, isOwn).then(({ status, type, body }) => {
        response.writeHead(status, { 'content-type': type, 'cache-control': 'no-store' });
        response.end(request.method === 'HEAD' ? undefined : body);
      });
    },
  });
  return { url: `http://${hostname}:${server.port}`, close: server.close };
}

async function answer(
  request: IncomingMessage,
  pages: Pages,
  paths: readonly string[],
  isOwn: boolean,
): Promise<Page> {
  const { method, url = '/', headers } = request;
  // Any web page can make a browser on this machine send requests under the page's own name (DNS rebinding).
  const host = URL.canParse(`http://${headers.host}`) ? new URL(`http://${headers.host}`).hostname : '';
  if (isOwn && !isLoopback(host)) return text(403, 'Ask under the name "localhost" or a loopback address.');
  if (method !== 'GET' && method !== 'HEAD') return text(405, 'Only GET is possible.');
  const path = url.split('?')[0] ?? '/';
  const page = Object.hasOwn(pages, path) ? pages[path] : undefined;
  if (page === undefined) return text(404, `Not found. Available: ${paths.join(' ')}`);
  try {
    return await page();
  } catch {
    return text(500, 'This page is unavailable; the log says why.');
  }
}

export function text(status: number, sentence: string): Page {
  return { status, type: 'text/plain; charset=utf-8', body: `${sentence}\n` };
}

export function json(status: number, value: object): Page {
  return { status, type: 'application/json', body: `${JSON.stringify(value)}\n` };
}
