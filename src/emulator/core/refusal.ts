import type { ErrorEnvelope, RefusalReason } from '../../protocol/service/error.ts';

/** Reasons for refusals: those of docs/service.md 7, and further reasons that are not listed there. */
export type ProblemReason =
  | RefusalReason
  | 'unauthorized'
  | 'forbidden'
  | 'insufficient_balance'
  | 'account_blocked'
  | 'validation_error'
  | 'malformed_body'
  | 'malformed_handshake'
  | 'malformed_request'
  | 'body_too_large'
  | 'foreign_host'
  | 'not_found'
  | 'method_not_allowed'
  | 'unsupported_media_type'
  | 'not_emulated'
  | 'rate_limit_exceeded'
  | 'upload_refused'
  | 'internal_error'
  | 'unavailable';

interface Problem {
  readonly http: number;
  readonly errorCode: number;
  readonly title: string;
  readonly detail: string;
}

/**
 * Status, number and texts of each reason. 202100 and 202102 are the specification's, 100050 was seen on a live service.
 * All other numbers are the emulator's own: clients must rely on the reason.
 */
export const PROBLEMS: Readonly<Record<ProblemReason, Problem>> = {
  session_already_used: {
    http: 409,
    errorCode: 202100,
    title: 'Session already used',
    detail: 'the token may open only one stream and has already opened it',
  },
  session_limit_reached: {
    http: 403,
    errorCode: 202101,
    title: 'Session limit reached',
    detail: "one more stream would exceed the plan's concurrent session limit",
  },
  max_duration_reached: {
    http: 410,
    errorCode: 202102,
    title: 'Maximum duration reached',
    detail: 'the stream has run for max_session_duration_seconds',
  },
  intent_mismatch: {
    http: 403,
    errorCode: 202103,
    title: 'Intent mismatch',
    detail: 'the token is for another product than this endpoint',
  },
  connection_type_mismatch: {
    http: 403,
    errorCode: 202104,
    title: 'Connection type mismatch',
    detail: 'the token is for another transport than this one',
  },
  connect_window_expired: {
    http: 403,
    errorCode: 202105,
    title: 'Connect window expired',
    detail: 'the token was presented after connect_by',
  },
  pending_sessions_limit_reached: {
    http: 403,
    errorCode: 202106,
    title: 'Pending sessions limit reached',
    detail: 'too many sessions are created but not yet used',
  },
  session_revoked: {
    http: 403,
    errorCode: 202107,
    title: 'Session revoked',
    detail: 'the session was deleted',
  },
  unauthorized: {
    http: 401,
    errorCode: 100001,
    title: 'Unauthorized',
    detail: 'no valid credential was presented',
  },
  forbidden: {
    http: 403,
    errorCode: 100003,
    title: 'Forbidden',
    detail: 'this credential does not allow this operation',
  },
  insufficient_balance: {
    http: 403,
    errorCode: 100050,
    title: 'Insufficient balance',
    detail: 'the account has run out of balance',
  },
  account_blocked: {
    http: 403,
    errorCode: 100051,
    title: 'Account blocked',
    detail: 'the account is blocked',
  },
  validation_error: {
    http: 422,
    errorCode: 100022,
    title: 'Validation error',
    detail: 'a field breaks its rule',
  },
  malformed_body: {
    http: 400,
    errorCode: 100020,
    title: 'Malformed body',
    detail: 'the body does not match its content type',
  },
  malformed_handshake: {
    http: 400,
    errorCode: 100021,
    title: 'Malformed handshake',
    detail: 'this is not a WebSocket handshake',
  },
  malformed_request: {
    http: 400,
    errorCode: 100023,
    title: 'Malformed request',
    detail: 'this is not an HTTP request',
  },
  body_too_large: {
    http: 413,
    errorCode: 100013,
    title: 'Body too large',
    detail: 'the body is larger than this endpoint accepts',
  },
  foreign_host: {
    http: 403,
    errorCode: 100030,
    title: 'Foreign host',
    detail: 'the request is meant for another machine',
  },
  not_found: { http: 404, errorCode: 100004, title: 'Not found', detail: 'this address does not exist' },
  method_not_allowed: {
    http: 405,
    errorCode: 100005,
    title: 'Method not allowed',
    detail: 'this address does not accept this method',
  },
  unsupported_media_type: {
    http: 415,
    errorCode: 100015,
    title: 'Unsupported media type',
    detail: 'this endpoint needs another content type',
  },
  not_emulated: {
    http: 501,
    errorCode: 100099,
    title: 'Not emulated',
    detail: 'the emulator does not include this part of the service',
  },
  rate_limit_exceeded: {
    http: 429,
    errorCode: 100029,
    title: 'Rate limit exceeded',
    detail: 'too many requests in a short time',
  },
  upload_refused: {
    http: 403,
    errorCode: 100060,
    title: 'Upload refused',
    detail: 'the upload does not match its target',
  },
  internal_error: {
    http: 500,
    errorCode: 100000,
    title: 'Internal error',
    detail: 'the service failed to answer',
  },
  unavailable: {
    http: 503,
    errorCode: 100053,
    title: 'Service unavailable',
    detail: 'the service is not available at the moment',
  },
};

/** An HTTP answer. `body` null: no body. */
export interface Answer {
  readonly status: number;
  readonly body: unknown;
  readonly headers?: Readonly<Record<string, string>>;
}

/**
 * An answer that reports one or several occurrences of a problem (docs/service.md 2.4). `type` ends with the reason, and
 * each `detail` begins with it.
 * @param instance identifies this occurrence
 */
export function refuse(
  reason: ProblemReason,
  instance: string,
  details: readonly string[] = [],
  status = PROBLEMS[reason].http,
): Answer {
  const problem = PROBLEMS[reason];
  const body: ErrorEnvelope = {
    ok: false,
    errors: (details.length > 0 ? details : [problem.detail]).map((detail) => ({
      type: `https://emulator.invalid/problems/${reason}`,
      status,
      title: problem.title,
      detail: `${reason}: ${detail}`,
      instance,
      error_code: problem.errorCode,
    })),
  };
  return { status, body };
}

/** Text of the answer at every WebRTC address, after the reason. */
const WEBRTC_GAP =
  'WebRTC: the emulator creates sessions with rooms and listener tokens, but has no signalling and no media; open a WebSocket stream with a session of connection_type ws';

/** Text of a refusal at a WebRTC address: the text of the reason, and what the emulator lacks. */
export function webrtcDetail(reason: ProblemReason): string {
  return reason === 'not_emulated' ? WEBRTC_GAP : `${PROBLEMS[reason].detail}; ${WEBRTC_GAP}`;
}

/** Data of the message that reports a problem on a stream. */
export function problemData(
  reason: ProblemReason,
  detail = PROBLEMS[reason].detail,
): Record<string, unknown> {
  const { errorCode } = PROBLEMS[reason];
  return { code: reason.toUpperCase(), desc: detail, param: null, reason, error_code: errorCode };
}
