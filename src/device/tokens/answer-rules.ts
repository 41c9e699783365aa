import { judgeSigned, readEnvelope, SIGNED_FAULTS, type SignedFault } from '../../core/signed-message.ts';
import type { Opening } from '../../ports/signature.ts';
import {
  malformedField,
  type TokenError,
  type TokenGrantMessage,
  type TokenResponse,
} from '../../protocol/mqtt/token.ts';
import type { LegacySession } from '../../protocol/service/session.ts';
import { shortId } from '../../protocol/short-id.ts';
import { LONGEST_ANSWER } from '../../protocol/signed.ts';
import type { Denial, Grant } from '../lane/state/lane-event.ts';

/** Why an answer to a token request is refused. The lane judges whether a grant is still in time (`lane/session/token-request.ts`). */
export type AnswerFault =
  | SignedFault
  /** No request waits for it: it is late, a duplicate, replayed, or for another device. */
  | 'unasked'
  /** Too many answers at once to check. */
  | 'flood'
  /** The broker had retained it: its age is unknown. */
  | 'retained';

const WORDS: Readonly<Record<AnswerFault, string>> = {
  ...SIGNED_FAULTS,
  unasked: 'no request waits for it',
  flood: 'too many came at once',
  retained: 'the broker had retained it, and the backend must not retain answers',
};

/** Completes "an answer to a token request was refused: ". */
export function explainFault(fault: AnswerFault): string {
  return WORDS[fault];
}

/** Faulty part of the message, for faults outside the signature. */
const FIELDS: Readonly<Partial<Record<AnswerFault, string>>> = {
  oversized: `(more than ${LONGEST_ANSWER} characters)`,
  malformed: malformedField(null),
  nested: '(nested too deeply)',
  retained: '(retained)',
};

/** The faulty part of the message, for the report of a silent backend. */
export function fieldOf(fault: AnswerFault): string {
  return FIELDS[fault] ?? 'jws';
}

/** A message on `{p}/token/res`. */
export interface AnswerMessage {
  readonly payload: string;
  /** The broker had retained it. */
  readonly retained: boolean;
}

export type AnswerReading =
  | { readonly kind: 'refused'; readonly fault: AnswerFault }
  /** Signed: the signature of `jws` must be checked first. */
  | { readonly kind: 'signed'; readonly id: string; readonly jws: string }
  /** The body of the message, as JSON. Without keys, anyone at the broker can have written it. */
  | { readonly kind: 'body'; readonly body: unknown };

/** What is known on the arrival of an answer. */
export interface Expected {
  /** The configuration names the owner's keys: only signed answers pass. */
  readonly hasKeys: boolean;
  /** Number of signatures that are being checked. */
  readonly checks: number;
  /** Whether a request with this id waits for an answer. */
  isAwaited(id: string): boolean;
}

/** Maximum number of signatures checked at one time: a flood must not use the whole CPU. */
const MOST_CHECKS = 32;

export function readAnswer({ payload, retained }: AnswerMessage, expected: Expected): AnswerReading {
  const { hasKeys, checks, isAwaited } = expected;
  if (retained) return refused('retained');
  const envelope = readEnvelope(payload, LONGEST_ANSWER);
  if (envelope.kind === 'unreadable') return refused(envelope.why);
  if (envelope.kind === 'plain') return hasKeys ? refused('unsigned') : { kind: 'body', body: envelope.json };
  const { id, jws } = envelope;
  if (id === null) return refused('malformed');
  // Each request is answered once, so a signed answer to an older one is useless.
  if (!isAwaited(id)) return refused('unasked');
  return hasKeys && checks >= MOST_CHECKS ? refused('flood') : { kind: 'signed', id, jws };
}

/**
 * The body of a signed answer.
 * @param id the id outside the signature
 * @param base `{p}` of this device
 */
export function readSigned(opening: Opening, id: string, base: string): AnswerReading {
  if (!opening.ok) return refused(opening.why);
  const judged = judgeSigned(opening.content, { type: 'dragoman+token', devices: [base], id });
  return judged.ok ? { kind: 'body', body: judged.body } : refused(judged.why);
}

function refused(fault: AnswerFault): AnswerReading {
  return { kind: 'refused', fault };
}

type GrantMessage = Exclude<TokenResponse, { ok: false }>;

/** Unused legacy sessions stay active at least this long (docs/service.md 8). */
const LEGACY_WINDOW_MS = 60_000;
/** Shortest useful session (s): a shorter one ends before its successor is ready, and each costs a token. */
const LEAST_SESSION_S = 20;

/** Why no stream is opened with a session; completes "the session ...". Null: it can be used. */
export function objectionTo({ session }: GrantMessage): string | null {
  if (isLegacy(session)) return null;
  const { status, single_use: isSingleUse, max_session_duration_seconds: maxS } = session;
  if (status === 'expired' || (status === 'used' && isSingleUse))
    return `has the status "${status}": give a session that can still open a stream`;
  if (maxS == null || maxS >= LEAST_SESSION_S) return null;
  return `may last ${maxS} s only (max_session_duration_seconds): give it ${LEAST_SESSION_S} s or more`;
}

function isLegacy(session: GrantMessage['session']): session is LegacySession {
  return 'ws_url' in session && !('token' in session);
}

/** The confidential part of a grant, for the token store only. */
export interface Secret {
  readonly token: string;
  /** The session's id, which may look like a token. */
  readonly session: string;
  readonly urlTemplate: string;
}

export interface GrantReading {
  readonly grant: Omit<Grant, 'streamHost'>;
  readonly secret: Secret;
  /** The field with the address, for reports. */
  readonly addressField: 'stream_url' | 'ws_url';
}

/** @param id the lane's name for its request */
export function readGrant(id: string, message: GrantMessage): GrantReading {
  const { session } = message;
  if (isLegacy(session)) {
    return {
      grant: {
        id,
        session: shortId(session.id),
        windowMs: LEGACY_WINDOW_MS,
        maxDurationMs: null,
        intent: 's2s',
        connectionType: 'ws',
      },
      secret: { token: session.publisher, session: session.id, urlTemplate: session.ws_url },
      addressField: 'ws_url',
    };
  }
  const maxS = session.max_session_duration_seconds;
  return {
    grant: {
      id,
      session: shortId(session.id),
      windowMs: Date.parse(session.connect_by) - Date.parse(session.created_at),
      maxDurationMs: maxS == null ? null : maxS * 1000,
      intent: session.intent,
      connectionType: session.connection_type,
    },
    secret: {
      token: session.token,
      session: session.id,
      urlTemplate: (message as TokenGrantMessage).stream_url,
    },
    addressField: 'stream_url',
  };
}

/** The backend's own text, which may quote secrets. */
export function readDenial({ code, title, detail, final, retry_after_s: retryAfterS }: TokenError): Denial {
  return {
    code,
    message: detail === '' ? title : detail,
    final,
    retryAfterMs: retryAfterS == null ? null : retryAfterS * 1000,
  };
}
