/** Errors that happen before a single byte of the request, and with it the token, has left. */
const BEFORE_REQUEST = new Set([
  'ECONNREFUSED',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'EADDRNOTAVAIL',
  'CERT_HAS_EXPIRED',
  'CERT_NOT_YET_VALID',
  'DEPTH_ZERO_SELF_SIGNED_CERT',
  'SELF_SIGNED_CERT_IN_CHAIN',
  'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
  'UNABLE_TO_GET_ISSUER_CERT_LOCALLY',
  'ERR_TLS_CERT_ALTNAME_INVALID',
]);

function codeOf(error: Error): string | null {
  if ('code' in error && typeof error.code === 'string') return error.code;
  // Several addresses of one name were tried: they all have to have failed early.
  if (error instanceof AggregateError) {
    const codes = error.errors.map((inner) => (inner instanceof Error ? codeOf(inner) : null));
    return codes.find((code) => code === null || !BEFORE_REQUEST.has(code)) ?? codes[0] ?? null;
  }
  return null;
}

/** Whether the token can't have reached the service. */
export function isUnspent(error: Error): boolean {
  const code = codeOf(error);
  return code !== null && BEFORE_REQUEST.has(code);
}

const MEANING: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'the service does not accept connections',
  ENOTFOUND: "the service's name is not known",
  EAI_AGAIN: 'the name server does not answer',
  EHOSTUNREACH: 'there is no way to the service',
  ENETUNREACH: 'there is no network',
  ECONNRESET: 'the connection was reset',
  ETIMEDOUT: 'the service does not answer',
  CERT_HAS_EXPIRED: "the service's certificate has expired",
  CERT_NOT_YET_VALID: "the service's certificate is not valid yet: is the clock right?",
};

/** Plain words for an error of a connection. Never the error's own text, which may hold the address and its token. */
export function describeSocketError(error: Error): string {
  const code = codeOf(error);
  if (code === null) return 'the connection failed';
  return MEANING[code] ?? `the connection failed (${code})`;
}
