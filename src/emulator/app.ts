import type { HttpBindings } from '@hono/node-server';
import { Hono, type MiddlewareHandler } from 'hono';
import { bodyLimit } from 'hono/body-limit';
import { refuse } from './core/refusal.ts';
import { UPLOAD_PATH } from './core/voice-api.ts';
import { type AppSetup, MOST_BODY_BYTES, reply } from './http-exchange.ts';
import { httpFaults } from './http-faults.ts';
import { refusalFacts } from './request-log.ts';
import { addServiceRoutes } from './service-routes.ts';
import { addSteeringRoutes } from './steering-routes.ts';

/** The HTTP application: all routes except WebSocket upgrades. */
export function createApp(setup: AppSetup): Hono<{ Bindings: HttpBindings }> {
  const app = new Hono<{ Bindings: HttpBindings }>();
  const limit = bodyLimit({
    maxSize: MOST_BODY_BYTES,
    onError: async (context) => {
      const isRead = await drainBody(context.req.raw);
      // An unread remainder of the body would be parsed as the next request, so the connection must close.
      if (!isRead) context.header('connection', 'close');
      return reply(context, refuse('body_too_large', setup.nextInstance()));
    },
  });
  app.use('*', noteRequests(setup));
  app.use('*', (context, next) => (context.req.path.startsWith(UPLOAD_PATH) ? next() : limit(context, next)));
  app.use('*', httpFaults(setup));
  addServiceRoutes(app, setup);
  addSteeringRoutes(app, setup);
  app.notFound((context) => {
    const known = app.routes.some(({ path, method }) => method !== 'ALL' && matches(path, context.req.path));
    return reply(context, refuse(known ? 'method_not_allowed' : 'not_found', setup.nextInstance()));
  });
  app.onError((_problem, context) => reply(context, refuse('internal_error', setup.nextInstance())));
  return app;
}

/** Logs each request with its answer. Requests that only read the emulator's own pages are not logged. */
function noteRequests({ requests }: AppSetup): MiddlewareHandler<{ Bindings: HttpBindings }> {
  return async (context, next) => {
    await next();
    const { method, path, res } = { method: context.req.method, path: context.req.path, res: context.res };
    if (method === 'GET' && /^\/emulator(\/|$)/.test(path)) return;
    const isJson = res.headers.get('content-type')?.startsWith('application/json') === true;
    const body: unknown = res.status >= 400 && isJson ? await res.clone().json() : null;
    const { pathname, search } = new URL(context.req.url);
    requests.note({
      kind: 'http',
      method,
      url: pathname + search,
      status: res.status,
      ...refusalFacts(body),
    });
  };
}

/** Longest remainder of a refused body (bytes) that is read and discarded, so that the client can reuse its connection. */
const MOST_DISCARDED_BYTES = 16 * 1024 * 1024;

/** Reads and discards the rest of a request; false when it is too long or breaks off. */
async function drainBody(request: Request): Promise<boolean> {
  try {
    const reader = request.body?.getReader();
    for (let left = MOST_DISCARDED_BYTES; reader !== undefined && left > 0; ) {
      const { done, value } = await reader.read();
      if (done) return true;
      left -= value.byteLength;
    }
    return reader === undefined;
  } catch {
    return false;
  }
}

/** Whether a path fits a route's pattern, whatever the method. */
function matches(pattern: string, path: string): boolean {
  const wanted = pattern.split('/');
  const segments = path.split('/');
  return (
    wanted.length === segments.length &&
    wanted.every((part, at) => (part.startsWith(':') ? segments[at] !== '' : part === segments[at]))
  );
}
