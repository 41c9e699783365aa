import { closeSync, openSync } from 'node:fs';
import { tlsAdvice } from '../../core/network/tls-advice.ts';
import { describeTlsCode, isDistrust, tlsReason } from '../network/tls-reason.ts';
import { systemCode } from '../system-error.ts';

/** Errors before the first byte of the request, and so before the token is sent. */
const BEFORE_REQUEST = new Set([
  'ECONNREFUSED',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'EADDRNOTAVAIL',
]);

const isBeforeRequest = (code: string): boolean => BEFORE_REQUEST.has(code) || isDistrust(code);

function codeOf(error: Error): string | null {
  if ('code' in error && typeof error.code === 'string') return error.code;
  // Several addresses of one name were tried: all must have failed before the request.
  if (error instanceof AggregateError) {
    const codes = error.errors.map((inner) => (inner instanceof Error ? codeOf(inner) : null));
    return codes.find((code) => code === null || !isBeforeRequest(code)) ?? codes[0] ?? null;
  }
  return null;
}

/** Whether the name lookup or the TCP connection failed, as with an address that does not answer. */
function isUnconnected(error: Error): boolean {
  if (error instanceof AggregateError)
    return error.errors.every((inner) => inner instanceof Error && isUnconnected(inner));
  return 'syscall' in error && (error.syscall === 'connect' || error.syscall === 'getaddrinfo');
}

/** Whether the service's certificate is not valid yet by this machine's clock. */
export function isTooEarly(error: Error): boolean {
  return codeOf(error) === 'CERT_NOT_YET_VALID';
}

const MEANING: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'the service does not accept connections',
  ENOTFOUND: "the service's name is unknown",
  EAI_AGAIN: 'the name server does not answer',
  EHOSTUNREACH: 'there is no route to the service',
  ENETUNREACH: 'there is no network',
  ECONNRESET: 'the connection was reset',
  ETIMEDOUT: 'the service does not answer',
  CERT_HAS_EXPIRED: "the service's certificate has expired",
  CERT_NOT_YET_VALID: "the service's certificate is not valid yet: is the clock right?",
};

/** Errors because this machine lacks the resources for a connection. */
const NO_ROOM: Readonly<Record<string, string>> = {
  EMFILE: 'the agent has too many files open (EMFILE): restart it',
  ENFILE: 'this machine has too many files open (ENFILE)',
  ENOBUFS: 'this machine has no memory left for a connection (ENOBUFS)',
  ENOMEM: 'this machine has no memory left for a connection (ENOMEM)',
};

/** Null when resources were not the reason. A request that fails while it is being sent may have arrived. */
function roomTrouble(error: Error): string | null {
  if (error instanceof AggregateError)
    return error.errors.map((one) => (one instanceof Error ? roomTrouble(one) : null)).find(Boolean) ?? null;
  const code = codeOf(error) ?? '';
  const during = 'syscall' in error ? error.syscall : null;
  // When the resolver cannot open its own files, a lookup reports that the name is unknown.
  if (during === 'getaddrinfo') return NO_ROOM[code] ?? fileTrouble();
  return during === 'connect' ? (NO_ROOM[code] ?? null) : null;
}

/** Why no file can be opened now; null: files can be opened. */
function fileTrouble(): string | null {
  try {
    closeSync(openSync('/dev/null', 'r'));
    return null;
  } catch (error) {
    return NO_ROOM[systemCode(error) ?? ''] ?? null;
  }
}

/**
 * The arguments of `unreached` for an error before the connection was open. Uses plain words and OpenSSL's reason, never the
 * error's whole text, which may hold the address and its token.
 */
export function describeUnreached(error: Error): [spent: boolean, message: string, isOurs: boolean] {
  const room = roomTrouble(error);
  if (room !== null) return [false, room, true];
  const code = codeOf(error);
  if (code === null) return [true, 'the connection failed', false];
  const isSpent = !isBeforeRequest(code) && !isUnconnected(error);
  return [isSpent, MEANING[code] ?? describeOther(code, tlsReason(error)), false];
}

function describeOther(code: string, reason: string | null): string {
  const advice = reason === null ? null : tlsAdvice(reason);
  const then = advice === null ? '' : `: ${advice}`;
  return isDistrust(code)
    ? `the service's certificate is not trusted (${describeTlsCode(code, reason)})${then}`
    : `the connection failed (${describeTlsCode(code, reason)})${then}`;
}

/** The library's errors for invalid input; it closes with 1009, 1008, 1007 or 1002. */
const BREACHES: Readonly<Record<string, string>> = {
  WS_ERR_UNSUPPORTED_MESSAGE_LENGTH: 'a message that is too large (1009)',
  WS_ERR_UNSUPPORTED_DATA_PAYLOAD_LENGTH: 'a frame that is too large (1009)',
  WS_ERR_TOO_MANY_BUFFERED_PARTS: 'a message in too many parts (1008)',
  WS_ERR_INVALID_UTF8: 'text that is not UTF-8 (1007)',
};

/** Why this side closed the connection, if the peer's input is the reason; otherwise null. */
export function describeBreach(error: Error): string | null {
  const code = codeOf(error);
  if (code === null || !code.startsWith('WS_ERR_')) return null;
  const what = BREACHES[code] ?? `what the WebSocket protocol does not allow (1002, ${code})`;
  return `the agent closed the stream: the service sent ${what}`;
}
