import type { Random } from '../../core/random.ts';
import type { Choices } from './choices.ts';
import { drawToken } from './random.ts';
import { type SessionRecord, statusOf } from './sessions.ts';

/** Path for WebRTC clients, below the address of streams. */
const WEBRTC_PATH = '/webrtc';

/** Whether a path belongs to WebRTC: the WebRTC path and everything below it, for signalling. */
export function isWebrtcPath(path: string): boolean {
  return path === WEBRTC_PATH || path.startsWith(`${WEBRTC_PATH}/`);
}

/** How a session is shown over HTTP. */
export interface ViewContext {
  readonly choices: Choices;
  /** Now, milliseconds since 1970 on the service's clock. */
  readonly at: number;
  /** Offset added to every timestamp shown, to simulate a service whose clock is wrong. */
  readonly skewMs: number;
  /** `ws://host:port` as the caller reaches this service. */
  readonly streamBase: string;
}

function stamp(at: number, context: ViewContext): string {
  return new Date(at + context.skewMs).toISOString();
}

function shownStatus(session: SessionRecord, context: ViewContext): string {
  const status = statusOf(session, context.at);
  return status === 'running' ? context.choices.statusWhileActive : status;
}

/**
 * A session in the shape of docs/service.md 2.1.
 * @param withToken only the answers to create and get-by-id show the token
 */
export function viewSession(
  session: SessionRecord,
  context: ViewContext,
  withToken: boolean,
): Record<string, unknown> {
  const webrtc = { url: `${context.streamBase}${WEBRTC_PATH}`, room_name: session.roomName };
  return {
    id: session.id,
    ...(withToken ? { token: session.token } : {}),
    intent: session.intent,
    connection_type: session.connectionType,
    single_use: session.singleUse,
    client_reference_id: session.clientReferenceId,
    status: shownStatus(session, context),
    created_at: stamp(session.createdAt, context),
    connect_by: stamp(session.connectBy, context),
    max_session_duration_seconds: session.maxDurationMs === null ? null : session.maxDurationMs / 1000,
    first_connected_at: session.firstConnectedAt === null ? null : stamp(session.firstConnectedAt, context),
    active_stream_count: session.activeStreams,
    ...(session.connectionType === 'webrtc' ? { webrtc } : {}),
  };
}

/** The answer to creation: a WebRTC session shows its listener tokens only here. */
export function viewNewSession(
  session: SessionRecord,
  context: ViewContext,
  subscribers: number,
  random: Random,
): Record<string, unknown> {
  const view = viewSession(session, context, true);
  if (session.connectionType !== 'webrtc') return view;
  const keys = Array.from({ length: subscribers }, () => `sub_${drawToken(random)}`);
  return { ...view, webrtc: { ...(view['webrtc'] as object), subscriber_keys: keys } };
}

/** A session in the shape of docs/service.md 4.3, as public clients read it. */
export function viewLegacySession(
  session: SessionRecord,
  context: ViewContext,
  subscribers: readonly string[],
): Record<string, unknown> {
  return {
    id: session.id,
    publisher: session.token,
    subscriber: subscribers,
    webrtc_room_name: session.roomName,
    webrtc_url: `${context.streamBase}${WEBRTC_PATH}`,
    ws_url: `${context.streamBase}/streaming-api/${session.roomName}/v1/speech-to-speech/stream`,
  };
}
