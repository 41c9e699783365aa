import type { Random } from '../../core/random.ts';
import type { RefusalReason } from '../../protocol/service/error.ts';
import type { ConnectionType, CreateSessionRequest, Intent } from '../../protocol/service/session.ts';
import { drawToken, drawUuid } from './random.ts';

/** How a session was created (docs/service.md): by 4.1, by 4.3, or automatically for a stream with an API key (4.7). */
export type SessionKind = 'temporary' | 'legacy' | 'automatic';

/** A session as the service keeps it. Times are milliseconds since 1970 on the service's clock. */
export interface SessionRecord {
  readonly id: string;
  readonly token: string;
  readonly kind: SessionKind;
  readonly intent: Intent;
  readonly connectionType: ConnectionType;
  readonly singleUse: boolean;
  readonly clientReferenceId: string | null;
  readonly createdAt: number;
  readonly connectBy: number;
  readonly maxDurationMs: number | null;
  readonly roomName: string | null;
  firstConnectedAt: number | null;
  activeStreams: number;
  /** When the stream of a single-use session finished. */
  usedAt: number | null;
  revoked: boolean;
}

export type SessionStatus = 'pending' | 'running' | 'used' | 'expired' | 'revoked';

/** Time (ms) that finished sessions are remembered. */
const REMEMBER_MS = 3_600_000;
/** Number of sessions from which old idle sessions are removed. */
const MOST_SESSIONS = 20_000;

/** State of a session at a moment (docs/service.md 3.1). */
export function statusOf(session: SessionRecord, at: number): SessionStatus {
  if (session.revoked) return 'revoked';
  if (session.activeStreams > 0) return 'running';
  // `used` stays after the connect window has passed. A stream that still runs at that time keeps its session from expiring.
  if (session.usedAt !== null) return 'used';
  return at >= session.connectBy ? 'expired' : 'pending';
}

/** Why a token may not open a stream now; null if it may (docs/service.md 5 rule 1). */
export function objectTo(
  session: SessionRecord,
  intent: Intent,
  transport: ConnectionType,
  at: number,
): RefusalReason | null {
  if (session.revoked) return 'session_revoked';
  if (session.intent !== intent) return 'intent_mismatch';
  // Legacy sessions have an address for each transport (4.3) and are bound to no transport.
  if (session.kind === 'temporary' && session.connectionType !== transport) return 'connection_type_mismatch';
  if (session.singleUse && session.firstConnectedAt !== null) return 'session_already_used';
  if (at >= session.connectBy) return 'connect_window_expired';
  return null;
}

/** All sessions of the account. */
export interface SessionRegistry {
  readonly size: number;
  create(request: CreateSessionRequest, at: number): SessionRecord;
  createLegacy(intent: Intent, unusedMs: number, at: number): SessionRecord;
  /** A session for one stream that was opened with an API key. */
  createAutomatic(at: number): SessionRecord;
  get(id: string): SessionRecord | undefined;
  withToken(token: string): SessionRecord | undefined;
  list(kinds: readonly SessionKind[]): SessionRecord[];
  /** Number of sessions that have not been connected yet but still can be: the limit of 4.1 rule 3 counts them. */
  countPending(at: number): number;
  opened(session: SessionRecord, at: number): void;
  finished(session: SessionRecord, at: number): void;
  /** Revokes a session: it opens no further stream. */
  revoked(session: SessionRecord): void;
  remove(session: SessionRecord): void;
}

export function createSessionRegistry(random: Random): SessionRegistry {
  const byId = new Map<string, SessionRecord>();
  const byToken = new Map<string, SessionRecord>();
  const unused = new Set<SessionRecord>();

  const remove = (session: SessionRecord): void => {
    byId.delete(session.id);
    byToken.delete(session.token);
    unused.delete(session);
  };

  /** Removes sessions that ended long ago, and the oldest idle sessions if there are too many. */
  const tidy = (at: number): void => {
    for (const session of byId.values()) {
      const full = byId.size >= MOST_SESSIONS;
      if (!full && session.createdAt + REMEMBER_MS > at) return;
      const over = session.revoked || session.usedAt !== null || at >= session.connectBy + REMEMBER_MS;
      if (session.activeStreams === 0 && (over || full)) remove(session);
    }
  };

  const add = (fields: Partial<SessionRecord> & { createdAt: number; connectBy: number }): SessionRecord => {
    tidy(fields.createdAt);
    const session: SessionRecord = {
      id: drawUuid(random),
      token: `st_${drawToken(random)}`,
      kind: 'temporary',
      intent: 's2s',
      connectionType: 'ws',
      singleUse: false,
      clientReferenceId: null,
      maxDurationMs: null,
      roomName: null,
      firstConnectedAt: null,
      activeStreams: 0,
      usedAt: null,
      revoked: false,
      ...fields,
    };
    byId.set(session.id, session);
    byToken.set(session.token, session);
    if (session.kind !== 'automatic') unused.add(session);
    return session;
  };

  return {
    get size() {
      return byId.size;
    },
    create: (request, at) =>
      add({
        intent: request.intent,
        connectionType: request.connection_type,
        singleUse: request.single_use,
        clientReferenceId: request.client_reference_id ?? null,
        createdAt: at,
        connectBy: at + request.expires_in_seconds * 1000,
        maxDurationMs:
          request.max_session_duration_seconds === undefined
            ? null
            : request.max_session_duration_seconds * 1000,
        roomName: request.connection_type === 'webrtc' ? `room-${drawToken(random, 12)}` : null,
      }),
    createLegacy: (intent, unusedMs, at) =>
      add({
        kind: 'legacy',
        intent,
        createdAt: at,
        connectBy: at + unusedMs,
        roomName: `room-${drawToken(random, 12)}`,
      }),
    createAutomatic: (at) => add({ kind: 'automatic', createdAt: at, connectBy: at, singleUse: true }),
    get: (id) => byId.get(id),
    withToken: (token) => byToken.get(token),
    list: (kinds) => [...byId.values()].filter((session) => kinds.includes(session.kind)),
    countPending(at) {
      for (const session of unused) if (at >= session.connectBy) unused.delete(session);
      return unused.size;
    },
    opened(session, at) {
      unused.delete(session);
      session.activeStreams++;
      session.firstConnectedAt ??= at;
    },
    finished(session, at) {
      session.activeStreams--;
      if (session.kind === 'automatic') remove(session);
      else if (session.singleUse) session.usedAt = at;
    },
    revoked(session) {
      session.revoked = true;
      unused.delete(session);
    },
    remove,
  };
}
