import * as z from 'zod';
import {
  clientReferenceIdSchema,
  createSessionRequestSchema,
  intentSchema,
  subscriberCountSchema,
} from '../../protocol/service/session.ts';
import { bearerOf, type Credential } from './credentials.ts';
import { drawToken } from './random.ts';
import { type Answer, type ProblemReason, refuse } from './refusal.ts';
import type { Service } from './service.ts';
import { type ViewContext, viewLegacySession, viewNewSession, viewSession } from './session-view.ts';
import { type SessionKind, type SessionRecord, statusOf } from './sessions.ts';

/** The parts of an HTTP request that the handlers need. */
export interface ApiRequest {
  readonly authorization: string | null;
  readonly clientId: string | null;
  readonly clientSecret: string | null;
  /** Parsed JSON of the body. */
  readonly body: unknown;
  readonly query: Readonly<Record<string, string>>;
  /** `http://host:port` and `ws://host:port` as the caller reaches this service, `https:` and `wss:` over TLS. */
  readonly httpBase: string;
  readonly streamBase: string;
}

/** What handlers need beside the request: the service, the time, and an id that names a problem in an answer. */
export interface ApiContext {
  readonly service: Service;
  readonly now: number;
  readonly instance: string;
}

type Wanted = 'api_key' | 'jwt';

/** Null if the credential has the required kind, otherwise the answer that refuses the request (docs/service.md 5). */
export function demand(
  wanted: Wanted,
  request: ApiRequest,
  { service, instance }: ApiContext,
): Answer | null {
  const who: Credential = service.identify(bearerOf(request.authorization));
  if (who.kind === wanted) return null;
  const name = wanted === 'api_key' ? 'account API key' : 'account JWT';
  const isScheme = request.authorization !== null && bearerOf(request.authorization) === null;
  const detail = `send "Authorization: Bearer <${name}>"${isScheme ? '; this header has another form' : ''}`;
  const reason: ProblemReason = who.kind === 'none' || who.kind === 'unknown' ? 'unauthorized' : 'forbidden';
  return refuse(reason, instance, [detail]);
}

/** Reports one error for each broken rule, with the name of its field. */
export function invalid(error: z.ZodError, instance: string): Answer {
  const details = error.issues.map((issue) => `${issue.path.join('.') || 'body'}: ${issue.message}`);
  return refuse('validation_error', instance, details.slice(0, 20));
}

export function viewContext(request: ApiRequest, { service, now }: ApiContext): ViewContext {
  return {
    choices: service.choices,
    at: service.clockAt(now),
    skewMs: service.faults.skewMs,
    streamBase: request.streamBase,
  };
}

function objectToCreation({ service, now, instance }: ApiContext): Answer | null {
  const trouble = service.account.trouble(now);
  if (trouble !== null) return refuse(trouble, instance);
  const pending = service.sessions.countPending(service.clockAt(now));
  return pending >= service.choices.pending ? refuse('pending_sessions_limit_reached', instance) : null;
}

/** `POST /session-storage/v2/sessions` (docs/service.md 4.1). */
export function createSession(request: ApiRequest, context: ApiContext): Answer {
  const { service, now, instance } = context;
  const denied = demand('api_key', request, context);
  if (denied !== null) return denied;
  const body = createSessionRequestSchema.safeParse(request.body);
  if (!body.success) return invalid(body.error, instance);
  const objection = objectToCreation(context);
  if (objection !== null) return objection;
  const session = service.sessions.create(body.data, service.clockAt(now));
  const subscribers = body.data.subscriber_count ?? 0;
  const data = viewNewSession(session, viewContext(request, context), subscribers, service.random);
  return { status: 201, body: { ok: true, data } };
}

const TEMPORARY: readonly SessionKind[] = ['temporary'];
const LEGACY: readonly SessionKind[] = ['legacy', 'automatic'];

function find(id: string, kinds: readonly SessionKind[], service: Service): SessionRecord | undefined {
  const session = service.sessions.get(id);
  if (session === undefined || !kinds.includes(session.kind)) return undefined;
  return session.revoked && service.choices.statusAfterRevoke === 'gone' ? undefined : session;
}

/** Get Session by ID (docs/service.md 4.2): besides creation, the only answer that shows the token. */
export function getSession(id: string, request: ApiRequest, context: ApiContext): Answer {
  const denied = demand('api_key', request, context);
  if (denied !== null) return denied;
  const session = find(id, TEMPORARY, context.service);
  if (session === undefined) return refuse('not_found', context.instance, ['there is no session of this id']);
  return { status: 200, body: { ok: true, data: viewSession(session, viewContext(request, context), true) } };
}

const clientReferenceSchema = clientReferenceIdSchema.optional();

/** List Sessions (docs/service.md 4.2), newest last, with the `client_reference_id` filter. */
export function listSessions(request: ApiRequest, context: ApiContext): Answer {
  const denied = demand('api_key', request, context);
  if (denied !== null) return denied;
  const wanted = clientReferenceSchema.safeParse(request.query['client_reference_id']);
  if (!wanted.success) {
    return refuse('validation_error', context.instance, ['client_reference_id: at most 256 characters']);
  }
  const { service } = context;
  const view = viewContext(request, context);
  const data = service.sessions
    .list(TEMPORARY)
    .filter((session) => wanted.data === undefined || session.clientReferenceId === wanted.data)
    .filter((session) => !session.revoked || service.choices.statusAfterRevoke !== 'gone')
    .map((session) => viewSession(session, view, false));
  return { status: 200, body: { ok: true, data } };
}

/** Delete Session (docs/service.md 4.2, 3.1): the token stops working at once, and running streams get a message. */
export function deleteSession(id: string, request: ApiRequest, context: ApiContext): Answer {
  const denied = demand('api_key', request, context);
  if (denied !== null) return denied;
  const session = find(id, TEMPORARY, context.service);
  if (session === undefined) return refuse('not_found', context.instance, ['there is no session of this id']);
  context.service.revoke(session, context.now);
  return { status: 204, body: null };
}

const legacyRequestSchema = z.looseObject({
  data: z
    .looseObject({
      subscriber_count: subscriberCountSchema.optional(),
      intent: z.union([intentSchema, z.literal('api')]).optional(),
    })
    .optional(),
});

/** Legacy callers present a client id and secret, or the account's API key; a live service answers 404 to others. */
export function demandLegacy(request: ApiRequest, { service, instance }: ApiContext): Answer | null {
  const known =
    service.identify(bearerOf(request.authorization)).kind === 'api_key' ||
    service.isClient(request.clientId, request.clientSecret);
  if (known) return null;
  const anything = request.authorization ?? request.clientId ?? request.clientSecret;
  if (anything === null) return refuse('unauthorized', instance);
  return refuse('not_found', instance, ['no account has these credentials']);
}

/** `POST /session-storage/session` (docs/service.md 4.3). */
export function createLegacySession(request: ApiRequest, context: ApiContext): Answer {
  const { service, now, instance } = context;
  const denied = demandLegacy(request, context);
  if (denied !== null) return denied;
  const body = legacyRequestSchema.safeParse(request.body ?? {});
  if (!body.success) return invalid(body.error, instance);
  const objection = objectToCreation(context);
  if (objection !== null) return objection;
  const intent = body.data.data?.intent ?? 's2s';
  const session = service.sessions.createLegacy(
    intent === 'api' ? 's2s' : intent,
    service.choices.legacyUnusedMs,
    service.clockAt(now),
  );
  const count = body.data.data?.subscriber_count ?? 0;
  const subscribers = Array.from({ length: count }, () => `sub_${drawToken(service.random)}`);
  const data = viewLegacySession(session, viewContext(request, context), subscribers);
  return { status: 201, body: { ok: true, data } };
}

function isListed(session: SessionRecord, at: number): boolean {
  const status = statusOf(session, at);
  return status === 'pending' || status === 'running';
}

/** `GET /session-storage/sessions`: the legacy sessions that have not expired. */
export function listLegacySessions(request: ApiRequest, context: ApiContext): Answer {
  const denied = demandLegacy(request, context);
  if (denied !== null) return denied;
  const at = context.service.clockAt(context.now);
  const view = viewContext(request, context);
  const sessions = context.service.sessions
    .list(LEGACY)
    .filter((session) => isListed(session, at))
    .map((session) => viewLegacySession(session, view, []));
  return { status: 200, body: { ok: true, data: { sessions } } };
}

/** `GET /session-storage/sessions/{id}`. */
export function getLegacySession(id: string, request: ApiRequest, context: ApiContext): Answer {
  const denied = demandLegacy(request, context);
  if (denied !== null) return denied;
  const session = find(id, LEGACY, context.service);
  if (session === undefined || !isListed(session, context.service.clockAt(context.now))) {
    return refuse('not_found', context.instance, ['there is no session of this id']);
  }
  const data = viewLegacySession(session, viewContext(request, context), []);
  return { status: 200, body: { ok: true, data } };
}

/** `DELETE /session-storage/sessions/{id}`. */
export function deleteLegacySession(id: string, request: ApiRequest, context: ApiContext): Answer {
  const denied = demandLegacy(request, context);
  if (denied !== null) return denied;
  const session = find(id, LEGACY, context.service);
  if (session === undefined) return refuse('not_found', context.instance, ['there is no session of this id']);
  context.service.revoke(session, context.now);
  return { status: 204, body: null };
}
