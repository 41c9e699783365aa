/** OpenSSL's own reason for a failure of TLS. Node's code is often less precise: `UNSPECIFIED`, `EPROTO`. */

import { ownLine } from '../own-line.ts';
import { systemCode } from '../system-error.ts';

/** Node's codes for a certificate that fails verification. */
const DISTRUST =
  /^(?:UNSPECIFIED$|CERT_|CRL_|UNABLE_TO_|DEPTH_ZERO_|SELF_SIGNED_|HOSTNAME_MISMATCH|INVALID_(?:CA|PURPOSE)|PATH_LENGTH|ERROR_IN_C)/;
/** An entry of OpenSSL's error queue: library, function and reason. */
const ENTRY = /\berror:[\dA-F]{8}:[^:]*:[^:]*:([^:\n]+)/i;
/** Our own OpenSSL rejects our certificate or key, so nothing is sent. */
const OWN_FILES = /^ERR_(?:OSSL_|SSL_(?:CA|EE)_(?:MD|KEY)_TOO_)/;

const CERTIFICATE_ALERT =
  /\balert (?:bad certificate|certificate|unsupported certificate|unknown ca|access denied)/i;

/** Whether a code means that the peer's certificate is not trusted. */
export const isDistrust = (code: string): boolean => DISTRUST.test(code) || code.startsWith('ERR_TLS_CERT');

/** Whether the peer refuses our certificate: OpenSSL's name of the alert is in the code or in the reason. */
export function isOurCertificateRefused(code: string, reason: string | null): boolean {
  return CERTIFICATE_ALERT.test(reason ?? '') || CERTIFICATE_ALERT.test(code.replaceAll('_', ' '));
}

/** Whether a code means that our own certificate, key or authorities cannot be used. */
export const isAboutOwnFiles = (code: string): boolean => OWN_FILES.test(code);

/** Such as "CA signature digest algorithm too weak" or "tlsv1 alert protocol version". Null: the failure is not about TLS. */
export function tlsReason(error: unknown): string | null {
  if (!(error instanceof Error)) return null;
  const code = systemCode(error);
  // Newer versions of Node add advice on their own options after a semicolon.
  if (code !== null && DISTRUST.test(code)) return ownLine(error.message.split(';')[0] ?? '');
  // Node's reason lists the certificate's names.
  if (code === 'ERR_TLS_CERT_ALTNAME_INVALID' && 'reason' in error) return ownLine(String(error.reason));
  const entry = ENTRY.exec(error.message)?.[1];
  return entry === undefined ? null : ownLine(entry);
}

/** A code with OpenSSL's reason for it, if there is one, for a message. */
export function describeTlsCode(code: string, reason: string | null): string {
  if (reason === null) return code;
  return code === 'UNSPECIFIED' || code === 'EPROTO' ? reason : `${reason}, ${code}`;
}
