import { hideAll, shortId } from '../../adapters/known-secrets.ts';
import { redactText } from '../../adapters/redaction.ts';
import { logRepeated, type RepeatFilter } from '../../machine/repeat-filter.ts';
import type { Bus } from '../../ports/bus.ts';
import type { Clock } from '../../ports/clock.ts';
import type { Log } from '../../ports/log.ts';
import { timestamp } from '../../protocol/mqtt/envelope.ts';
import {
  malformedField,
  type TokenGrantMessage,
  type TokenReason,
  type TokenRequest,
  type TokenResponse,
  tokenResponseSchema,
} from '../../protocol/mqtt/token.ts';
import type { DeviceTopics } from '../../protocol/mqtt/topics.ts';
import type { LegacySession } from '../../protocol/service/session.ts';
import type { Denial, Grant } from '../lane/lane-event.ts';
import type { EndedStreams } from './ended-streams.ts';
import { AddressError } from './stream-address.ts';
import type { TokenStore } from './token-store.ts';

/** Expiry of a request at the broker (s): a session issued later would not be used. */
const REQUEST_EXPIRY_S = 30;
/** Unused legacy sessions stay active at least this long (docs/service.md 8). */
const LEGACY_WINDOW_MS = 60_000;
/** Maximum number of requests remembered: far more than can be open. */
const REMEMBERED_REQUESTS = 64;

/** The asking lane, and its own name for the request. That name never leaves the device. */
interface Asked {
  readonly lane: string;
  readonly request: string;
}

export interface TokenClientListener {
  /** Whether the lane waits for the answer to this request. */
  awaits(lane: string, id: string): boolean;
  granted(lane: string, grant: Grant): void;
  denied(lane: string, id: string, denial: Denial): void;
  /** The backend has answered one of our requests, whatever the answer. */
  answered(): void;
  /** The broker has accepted a request. */
  published(): void;
  /** An unreadable answer arrived. */
  malformed(field: string): void;
  /** The session in the answer cannot be used here. */
  unusable(lane: string, id: string, message: string): void;
}

/**
 * Requests tokens from the backend and puts them in the token store; the lanes learn only that a token is available. On the
 * wire a request has an id that cannot be guessed: otherwise an attacker could answer before the backend.
 */
export interface TokenClient {
  request(bus: Bus, lane: string, tokenRequest: { id: string; reason: TokenReason; attempt: number }): void;
  /** Whether a lane waits for the answer to this request, by its id on the wire. */
  awaits(id: string): boolean;
  /** Handles the backend's answer. */
  receive(body: unknown): void;
}

export interface TokenClientDeps {
  readonly topics: DeviceTopics;
  readonly tokenStore: TokenStore;
  readonly ended: Pick<EndedStreams, 'reportIn'>;
  readonly clock: Clock;
  readonly log: Log;
  readonly repeats: RepeatFilter;
  /** An id of at least 96 random bits (docs/backend.md). */
  newId(): string;
}

export function createTokenClient(deps: TokenClientDeps, listener: TokenClientListener): TokenClient {
  const { topics, tokenStore, clock } = deps;
  const ignored = (level: 'debug' | 'warn', kind: string, sentence: string, fields = {}): void =>
    logRepeated(deps, { level, kind: `token_answer:${kind}`, fields, sentence });
  /** Requests by their id on the wire. */
  const asked = new Map<string, Asked>();

  /** A retry uses the same id: the backend then repeats a lost answer instead of issuing a second session. */
  const idOf = (lane: string, request: string): string => {
    for (const [id, known] of asked) if (known.lane === lane && known.request === request) return id;
    const id = deps.newId();
    asked.set(id, { lane, request });
    for (const old of asked.keys()) {
      if (asked.size <= REMEMBERED_REQUESTS) break;
      asked.delete(old);
    }
    return id;
  };

  /** The backend's text is published, and may quote request ids, tokens or sessions: all of these are shortened. */
  const safe = (text: string, longest: number): string =>
    redactText(hideAll(tokenStore.hide(text), [...asked.keys()])).slice(0, longest);
  const deny = (id: string, lane: string, denial: Denial): void => listener.denied(lane, id, denial);

  const grant = (lane: string, id: string, message: Exclude<TokenResponse, { ok: false }>): void => {
    const objection = objectionTo(message.session);
    if (objection !== null)
      return listener.unusable(lane, id, `the session in the backend's answer ${objection}`);
    const { granted, token, urlTemplate } = readGrant(id, message);
    let streamHost: string;
    try {
      streamHost = tokenStore.keep(id, { token, urlTemplate, session: message.session.id });
    } catch (error) {
      if (!(error instanceof AddressError)) throw error;
      const field = isLegacy(message.session) ? 'ws_url' : 'stream_url';
      const why = tokenStore.hide(`the ${field} in the backend's answer ${error.message}`);
      return listener.unusable(lane, id, why);
    }
    listener.granted(lane, { ...granted, streamHost });
  };

  return {
    request(bus, lane, { id: request, reason, attempt }) {
      const id = idOf(lane, request);
      const ts = timestamp(clock.wall());
      const body = {
        ts,
        id,
        lane,
        intent: 's2s',
        connection_type: 'ws',
        reason,
        attempt,
        ...deps.ended.reportIn(id),
      } satisfies TokenRequest;
      bus.publish(topics.tokenRequest, JSON.stringify(body), {
        qos: 1,
        share: 'tokens',
        properties: {
          responseTopic: topics.tokenResponse,
          correlationData: new TextEncoder().encode(id),
          expiryS: REQUEST_EXPIRY_S,
        },
        ended: (isDelivered) => isDelivered && listener.published(),
      });
    },

    awaits(id) {
      const known = asked.get(id);
      return known !== undefined && listener.awaits(known.lane, known.request);
    },

    receive(body) {
      const { success, data: message } = tokenResponseSchema.safeParse(body);
      if (!success) {
        const field = malformedField(body);
        ignored('warn', 'malformed', 'a malformed token answer was ignored', { field });
        listener.malformed(field);
        return;
      }
      const known = asked.get(message.id);
      if (known === undefined) {
        ignored('debug', 'unasked', 'a token answer without a request was ignored');
        return;
      }
      listener.answered();
      // A duplicate answer may carry another token: it must not replace the one in use.
      const { lane, request } = known;
      if (!listener.awaits(lane, request)) {
        ignored('debug', 'late', 'a late or duplicate token answer was ignored');
        return;
      }
      if (message.ok) {
        grant(lane, request, message);
        return;
      }
      const { code, title, detail, final, retry_after_s: retryAfterS } = message.error;
      deny(request, lane, {
        code: safe(code, 60),
        message: safe(detail === '' ? title : detail, 200),
        final,
        retryAfterMs: retryAfterS == null ? null : retryAfterS * 1000,
      });
    },
  };
}

/** Shortest useful session (s): a shorter one ends before its successor is ready, and each costs a token. */
const LEAST_SESSION_S = 20;

/** Why no stream is opened with a session; completes "the session ...". Null: it can be used. */
function objectionTo(session: TokenGrantMessage['session'] | LegacySession): string | null {
  if (isLegacy(session)) return null;
  const { status, single_use: isSingleUse, max_session_duration_seconds: maxS } = session;
  if (status === 'expired' || (status === 'used' && isSingleUse))
    return `has the status "${status}": give a session that can still open a stream`;
  if (maxS == null || maxS >= LEAST_SESSION_S) return null;
  return `may last ${maxS} s only (max_session_duration_seconds): give it ${LEAST_SESSION_S} s or more`;
}

function isLegacy(session: TokenGrantMessage['session'] | LegacySession): session is LegacySession {
  return 'ws_url' in session && !('token' in session);
}

function readGrant(
  id: string,
  message: Exclude<TokenResponse, { ok: false }>,
): { granted: Omit<Grant, 'streamHost'>; token: string; urlTemplate: string } {
  const { session } = message;
  if (isLegacy(session)) {
    return {
      granted: {
        id,
        session: shortId(session.id),
        windowMs: LEGACY_WINDOW_MS,
        maxDurationMs: null,
        intent: 's2s',
        connectionType: 'ws',
      },
      token: session.publisher,
      urlTemplate: session.ws_url,
    };
  }
  const maxS = session.max_session_duration_seconds;
  return {
    granted: {
      id,
      session: shortId(session.id),
      windowMs: Date.parse(session.connect_by) - Date.parse(session.created_at),
      maxDurationMs: maxS == null ? null : maxS * 1000,
      intent: session.intent,
      connectionType: session.connection_type,
    },
    token: session.token,
    urlTemplate: (message as TokenGrantMessage).stream_url,
  };
}
