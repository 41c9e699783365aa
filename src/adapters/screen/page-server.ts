import { timingSafeEqual } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { getRequestListener, type HttpBindings } from '@hono/node-server';
import { type Context, Hono } from 'hono';
import { bodyLimit } from 'hono/body-limit';
import { createMiddleware } from 'hono/factory';
import type { Clock } from '../../ports/clock.ts';
import type { ScreenSource } from '../../ports/screen.ts';
import { parseJson } from '../../protocol/common/json.ts';
import { type ScreenBeat, screenActionSchema } from '../../protocol/screen.ts';
import { openHttpServer } from '../network/http-server.ts';
import { createEventClients } from './event-clients.ts';
import { PAGE_HEADERS, pageText } from './page.ts';
import { createMeter, objectionTo } from './page-door.ts';
import type { PageFiles } from './page-files.ts';

/** Only this machine can reach the page. */
const HOST = '127.0.0.1';
const MOST_BODY_BYTES = 4096;
/** All connections come from this machine. */
const LIMITS = { most: 64, mostOfAddress: 64 } as const;
/** A page sends a few requests when it loads. More than this in a second are answered late, so that they do not disturb the sound. */
const MOST_REQUESTS_PER_S = 100;
const LATE_MS = 1000;
const MOST_ACTIONS_PER_S = 5;
const REQUEST_WITHIN_MS = 10_000;

export interface PageServerOptions {
  /** 0: any free port. */
  readonly port: number;
  /** Proves that a request comes from the page. */
  readonly token: string;
  readonly files: PageFiles;
  readonly source: ScreenSource;
  readonly clock: Clock;
}

export interface PageServer {
  readonly url: string;
  /** Number of pages that listen. */
  readonly clients: number;
  close(): Promise<void>;
}

/** Serves the kiosk's page on loopback. @throws if the port is in use */
export async function openPageServer(options: PageServerOptions): Promise<PageServer> {
  const { clock, source } = options;
  const clients = createEventClients(source, clock);
  const mayAsk = createMeter(clock, MOST_REQUESTS_PER_S);
  const serve = getRequestListener(createApp(options).fetch);
  const late = new Set<() => void>();
  const server = await openHttpServer({
    host: HOST,
    port: options.port,
    limits: LIMITS,
    maxHeaderSize: 8192,
    clock,
    requestWithinMs: REQUEST_WITHIN_MS,
    listener(request, response) {
      if (!mayAsk()) return answerLate(clock, late, request, response);
      const objection = objectionTo(request, server.port);
      if (objection !== null) return refuse(response, 403, 'foreign', objection);
      if (isEvents(request)) {
        if (answerEvents(clients, response)) server.know(request);
        return;
      }
      void serve(request, response);
    },
  });
  return {
    url: `http://${HOST}:${server.port}`,
    get clients() {
      return clients.count;
    },
    async close() {
      clients.close();
      for (const cancel of late) cancel();
      await server.close();
    },
  };
}

const isEvents = ({ method, url = '' }: IncomingMessage): boolean =>
  method === 'GET' && url.replace(/\?.*/, '') === '/events';

/** Answers without Hono, which is not made for responses that last for hours. */
function answerEvents(clients: ReturnType<typeof createEventClients>, response: ServerResponse): boolean {
  for (const [name, value] of Object.entries(PAGE_HEADERS)) response.setHeader(name, value);
  if (clients.add(response)) return true;
  refuse(response, 503, 'too_many_pages', 'too many pages are open: close one');
  return false;
}

type PageContext = Context<{ Bindings: HttpBindings }>;

function createApp({ token, files, source, clock }: PageServerOptions): Hono<{ Bindings: HttpBindings }> {
  const app = new Hono<{ Bindings: HttpBindings }>();
  const mayAct = createMeter(clock, MOST_ACTIONS_PER_S);
  const page = pageText(token);
  app.use('*', async (context, next) => {
    for (const [name, value] of Object.entries(PAGE_HEADERS)) context.header(name, value);
    await next();
  });
  const asset = (type: string, text: string) => (context: PageContext) =>
    context.body(text, 200, { 'Content-Type': `${type}; charset=utf-8` });
  app.get('/', asset('text/html', page));
  app.get('/screen.js', asset('text/javascript', files.script));
  app.get('/screen.css', asset('text/css', files.style));
  const limit = bodyLimit({
    maxSize: MOST_BODY_BYTES,
    onError: (context) => {
      context.header('Connection', 'close');
      return problem(context, 413, 'too_large', `the body must have at most ${MOST_BODY_BYTES} bytes`);
    },
  });
  const fromPage = createMiddleware(async (context, next) => {
    if (!isSame(context.req.header('x-page-token') ?? '', token))
      return problem(context, 403, 'foreign', 'the request is not from this page: load the page again');
    if (context.req.header('origin') === undefined)
      return problem(context, 403, 'foreign', 'the request names no "Origin"');
    return next();
  });
  let beatAt: number | null = null;
  app.post('/beat', limit, fromPage, (context) => {
    beatAt = clock.now();
    return context.json({ ok: true });
  });
  app.get('/beat', (context) => {
    const beat: ScreenBeat = { ageMs: beatAt === null ? null : clock.now() - beatAt };
    return context.json(beat);
  });
  app.post('/do', limit, fromPage, async (context) => {
    if (!mayAct()) return problem(context, 429, 'too_often', 'too many requests: wait a moment');
    const parsed = screenActionSchema.safeParse(parseJson(await context.req.text()));
    if (!parsed.success) {
      const [issue] = parsed.error.issues;
      const field = issue?.path.join('.') ?? '';
      const message = issue?.message ?? 'is not valid';
      return problem(context, 400, 'invalid', field === '' ? message : `${field}: ${message}`);
    }
    const failed = await source.act(parsed.data);
    if (failed !== null) return problem(context, 409, failed.code, failed.message);
    return context.json({ ok: true });
  });
  app.notFound((context) => {
    const known = ['/', '/screen.js', '/screen.css', '/events', '/beat', '/do'].includes(context.req.path);
    return known
      ? problem(context, 405, 'method', 'read with GET, act with POST to /do')
      : problem(context, 404, 'not_found', 'there is no such page; the screen is at /');
  });
  app.onError((_error, context) =>
    problem(context, 500, 'internal', 'the request failed: load the page again'),
  );
  return app;
}

function problem(
  context: Context,
  status: 400 | 403 | 404 | 405 | 409 | 413 | 429 | 500 | 503,
  code: string,
  message: string,
): Response {
  return context.json({ ok: false, error: { code, message } }, status);
}

function refuse(response: ServerResponse, status: number, code: string, message: string): void {
  response.writeHead(status, { ...PAGE_HEADERS, 'Content-Type': 'application/json; charset=utf-8' });
  response.end(JSON.stringify({ ok: false, error: { code, message } }));
}

/** Keeps the connection for a second and reads nothing from it: so a flood is limited by its number of connections. */
function answerLate(
  clock: Clock,
  late: Set<() => void>,
  request: IncomingMessage,
  response: ServerResponse,
): void {
  request.socket.pause();
  const cancel = clock.at(clock.now() + LATE_MS, () => {
    late.delete(cancel);
    response.setHeader('Connection', 'close');
    response.setHeader('Retry-After', '1');
    refuse(response, 429, 'too_often', 'too many requests: wait a second');
  });
  late.add(cancel);
  response.on('close', () => {
    late.delete(cancel);
    cancel();
  });
}

function isSame(cookie: string, token: string): boolean {
  const [a, b] = [Buffer.from(cookie), Buffer.from(token)];
  return a.byteLength === b.byteLength && timingSafeEqual(a, b);
}
