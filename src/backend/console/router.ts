/** Finds the route of a request, and refuses people whose role may not use it, by the table `CONSOLE_ROUTES`. */

import { objectionToForeign } from '../../adapters/console/console-door.ts';
import {
  type ConsoleOutcome,
  type ConsoleRequest,
  jsonAnswer,
  TooLarge,
} from '../../adapters/console/console-request.ts';
import type { Log } from '../../ports/log.ts';
import { StoreDown, StoreRefused } from '../../ports/store.ts';
import { isPlain, PLAIN } from '../../protocol/common/plain-text.ts';
import {
  CONSOLE_ROUTES,
  type ConsoleRoute,
  includesRole,
  type RouteAccess,
} from '../../protocol/console-routes.ts';
import type { Call, PublicCall, Reply } from './call.ts';
import { Refusal } from './refusal.ts';
import type { SignIn } from './sign-in.ts';

type PublicRoute = {
  [R in ConsoleRoute]: (typeof CONSOLE_ROUTES)[R] extends 'public' ? R : never;
}[ConsoleRoute];
export type PublicHandlers = Readonly<Record<PublicRoute, (call: PublicCall) => Promise<Reply>>>;
export type Handlers = Readonly<Record<Exclude<ConsoleRoute, PublicRoute>, (call: Call) => Promise<Reply>>>;

interface Route {
  readonly name: ConsoleRoute;
  readonly method: string;
  readonly parts: readonly string[];
  readonly access: RouteAccess;
}

const ROUTES: readonly Route[] = Object.entries(CONSOLE_ROUTES).map(([name, access]) => {
  const [method = '', path = ''] = name.split(' ');
  return { name: name as ConsoleRoute, method, parts: path.split('/'), access };
});

export function createRouter(
  signIn: SignIn,
  open: PublicHandlers,
  handlers: Handlers,
  log: Log,
): (request: ConsoleRequest) => Promise<ConsoleOutcome> {
  const isPublic = (name: ConsoleRoute): name is PublicRoute => Object.hasOwn(open, name);
  const decide = async (request: ConsoleRequest): Promise<Reply> => {
    const objection = objectionToForeign(request.method, request.headers, request.origin);
    if (objection !== null) throw new Refusal(403, 'foreign', objection);
    const { route, params } = find(request);
    if (isPublic(route.name)) return open[route.name]({ request, params });
    const session = await signIn.find(request);
    if (session === null) throw new Refusal(401, 'signed_out', 'you are not signed in: sign in again');
    request.know();
    if (route.access === 'public' || !includesRole(session.who.role, route.access))
      throw new Refusal(403, 'role', `this needs the role ${route.access}; yours is ${session.who.role}`);
    return handlers[route.name]({ request, params, session });
  };
  return async (request) => {
    try {
      const reply = await decide(request);
      if ('kind' in reply) return reply;
      const headers = reply.cookie === undefined ? {} : { 'Set-Cookie': reply.cookie };
      return { kind: 'answer', answer: jsonAnswer(200, reply.json, headers) };
    } catch (error) {
      const { status, problem } = refusalOf(error, log);
      const { retryAfterS } = problem;
      const headers = retryAfterS === undefined ? {} : { 'Retry-After': String(retryAfterS) };
      return { kind: 'answer', answer: jsonAnswer(status, { error: problem }, headers) };
    }
  };
}

function find({ method, path }: ConsoleRequest): { route: Route; params: Record<string, string> } {
  const parts = path.split('/');
  const fitting = ROUTES.flatMap((route) => {
    const params = match(route.parts, parts);
    return params === null ? [] : [{ route, params }];
  });
  const wanted = method === 'HEAD' ? 'GET' : method;
  const fittingRoute = fitting.find(({ route }) => route.method === wanted);
  if (fittingRoute !== undefined) return fittingRoute;
  if (fitting.length === 0) throw new Refusal(404, 'not_found', 'there is no such page');
  throw new Refusal(405, 'method', `only ${fitting[0]?.route.method} is possible here`);
}

function match(wanted: readonly string[], parts: readonly string[]): Record<string, string> | null {
  if (wanted.length !== parts.length) return null;
  const params: Record<string, string> = {};
  for (const [index, want] of wanted.entries()) {
    const part = parts[index] ?? '';
    if (!want.startsWith(':')) {
      if (want !== part) return null;
    } else {
      const text = decode(part);
      if (text === null || text === '') return null;
      if (!isPlain(text)) throw new Refusal(400, 'invalid', `the address ${PLAIN}`);
      params[want.slice(1)] = text;
    }
  }
  return params;
}

function decode(part: string): string | null {
  try {
    return decodeURIComponent(part);
  } catch {
    return null;
  }
}

function refusalOf(error: unknown, log: Log): Refusal {
  if (error instanceof Refusal) return error;
  if (error instanceof TooLarge) return new Refusal(413, 'too_large', error.message);
  if (error instanceof StoreDown || error instanceof StoreRefused) {
    log.warn({ why: error.message }, 'the console cannot use the store');
    return new Refusal(503, 'store_away', 'the store cannot be used now: try again in a minute', {
      retryAfterS: 60,
    });
  }
  const aborted = error instanceof Error && 'code' in error && error.code === 'ECONNRESET';
  if (!aborted)
    log.error({ why: error instanceof Error ? error.message : 'unknown' }, 'a request to the console failed');
  return new Refusal(500, 'internal', 'the request failed: the log of the backend says why');
}
