export { shortId } from '../../adapters/known-secrets.ts';

import type { Session, SessionWithToken } from '../../protocol/service/session.ts';
import type { ServiceClient } from '../service/service-client.ts';

/** Maximum number of sessions that are revoked at once. A lane hardly ever has more than one; a longer list is a bug elsewhere. */
const MOST_RETIRED = 8;
const OVER: ReadonlySet<string> = new Set(['used', 'expired', 'revoked', 'deleted', 'ended', 'finished']);

/** Whether no stream has ever connected with the session. */
export function isUnused(session: Session): boolean {
  return session.status === 'pending' && !session.first_connected_at && !session.active_stream_count;
}

/** Whether the session can no longer be used. An unknown status counts as usable. */
export function isOver(session: Session): boolean {
  return OVER.has(session.status) && !session.active_stream_count;
}

/** Whether a stream has used the session, so its device has the token. What is over without a stream was not used. */
export function wasUsed(session: Session): boolean {
  return isOver(session) ? Boolean(session.first_connected_at) : !isUnused(session);
}

/**
 * Finds a lane's sessions that were never used: the named one, else those found by their reference.
 * @returns their ids
 */
export async function findUnused(
  service: ServiceClient,
  wanted: { reference: string; sessionId: string | null },
): Promise<string[]> {
  const candidates =
    wanted.sessionId === null
      ? await service.listSessions({ clientReferenceId: wanted.reference })
      : [await service.getSession(wanted.sessionId)];
  return (
    candidates
      .filter((session) => session !== null)
      // A service that ignores the filter lists the sessions of all lanes.
      .filter((session) => session.client_reference_id === wanted.reference && isUnused(session))
      .slice(0, MOST_RETIRED)
      .map(({ id }) => id)
  );
}

/** The fields of docs/service.md 2.1 that a device gets, with `maxDurationS` if the service leaves it out. */
export function shownSession(session: SessionWithToken, maxDurationS: number | undefined): SessionWithToken {
  const { id, token, intent, connection_type, single_use, client_reference_id, status } = session;
  const { created_at, connect_by, first_connected_at, active_stream_count, webrtc } = session;
  const max = session.max_session_duration_seconds ?? maxDurationS;
  return {
    id,
    token,
    intent,
    connection_type,
    single_use,
    client_reference_id,
    status,
    created_at,
    connect_by,
    ...(max !== undefined && { max_session_duration_seconds: max }),
    first_connected_at,
    active_stream_count,
    ...(webrtc !== undefined && { webrtc }),
  };
}
