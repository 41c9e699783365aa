import { TLSSocket } from 'node:tls';
import type { HttpBindings } from '@hono/node-server';
import type { Context } from 'hono';
import type { ContentfulStatusCode } from 'hono/utils/http-status';
import { parseJson } from '../protocol/common/json.ts';
import { type Answer, refuse } from './core/refusal.ts';
import type { ApiContext, ApiRequest } from './core/session-api.ts';
import type { RequestLog } from './request-log.ts';
import type { Plumbing } from './reset.ts';
import type { Runtime } from './runtime.ts';

/** Common input of every route. */
export interface AppSetup {
  readonly getRuntime: () => Runtime;
  readonly nextInstance: () => string;
  readonly plumbing: Plumbing;
  readonly requests: RequestLog;
  /** Ends all streams and restores the initial state. */
  readonly reset: () => void;
  /** The voice detector in use. */
  readonly detector: 'fvad' | 'energy';
}

export type HttpContext = Context<{ Bindings: HttpBindings }>;

/** Largest JSON body (bytes). */
export const MOST_BODY_BYTES = 64 * 1024;

/** Writes an answer of the core. */
export function reply(context: HttpContext, answer: Answer): Response {
  const headers = { ...answer.headers };
  if (answer.body === null) return context.body(null, answer.status as 204, headers);
  return context.json(answer.body, answer.status as ContentfulStatusCode, headers);
}

type Body = { ok: true; json: unknown } | { ok: false; answer: Answer };

/** Reads a JSON body, or gives the answer that refuses it. An empty body is `undefined`. */
export async function readJson(context: HttpContext, instance: string): Promise<Body> {
  const type = context.req.header('content-type')?.split(';')[0]?.trim().toLowerCase();
  const text = await context.req.text();
  if (text.length > 0 && type !== 'application/json') {
    const detail = `send "Content-Type: application/json"${type === undefined ? '; the header is missing' : ''}`;
    return { ok: false, answer: refuse('unsupported_media_type', instance, [detail]) };
  }
  if (text.trim() === '') return { ok: true, json: undefined };
  const json = parseJson(text);
  if (json !== undefined) return { ok: true, json };
  return { ok: false, answer: refuse('malformed_body', instance, ['the body is not JSON']) };
}

/** Address at which the caller reaches this service, from its `Host` header. */
function hostOf(context: HttpContext): string {
  const host = context.req.header('host') ?? '';
  return /^[\w.\-:[\]]{1,255}$/.test(host) ? host : '127.0.0.1';
}

/** The parts of a request that the core's handlers need. */
export function requestOf(context: HttpContext, body: unknown): ApiRequest {
  const host = hostOf(context);
  const isEncrypted = context.env.incoming.socket instanceof TLSSocket;
  return {
    authorization: context.req.header('authorization') ?? null,
    clientId: context.req.header('clientid') ?? null,
    clientSecret: context.req.header('clientsecret') ?? null,
    body,
    query: context.req.query(),
    httpBase: `http${isEncrypted ? 's' : ''}://${host}`,
    streamBase: `ws${isEncrypted ? 's' : ''}://${host}`,
  };
}

/** Runs a handler of the core now, and carries out its effects. */
export function handle(
  setup: AppSetup,
  context: HttpContext,
  body: unknown,
  handler: (request: ApiRequest, api: ApiContext) => Answer,
): Response {
  const runtime = setup.getRuntime();
  const request = requestOf(context, body);
  const answer = runtime.act((now) =>
    handler(request, { service: runtime.service, now, instance: setup.nextInstance() }),
  );
  return reply(context, answer);
}
