/** Why TLS or the request for a WebSocket failed, with the words of OpenSSL or the status of HTTP. */
import { tlsAdvice } from '../../core/doctor/tls-advice.ts';
import type { BusProblem } from '../../ports/bus.ts';
import {
  describeTlsCode,
  isAboutOwnFiles,
  isDistrust,
  isOurCertificateRefused,
  tlsReason,
} from '../network/tls-reason.ts';
import { systemCode } from '../system-error.ts';
import { UnexpectedAnswer } from './web-socket.ts';

interface Explanation {
  readonly problem: BusProblem;
  readonly message: string;
}

const REDIRECT = ': redirects are not followed, so change the address';
/** What to do about an HTTP answer, where it is certain. */
const ANSWER_ADVICE: Readonly<Record<number, string>> = {
  404: ': check the path of the address',
  ...{ 301: REDIRECT, 302: REDIRECT, 303: REDIRECT, 307: REDIRECT, 308: REDIRECT },
};

/** Null: it failed in another way. */
export function explainHandshake(broker: string, error: unknown): Explanation | null {
  if (error instanceof UnexpectedAnswer) {
    const advice = ANSWER_ADVICE[error.status] ?? '';
    const message = `${broker} answered with ${error.message} in place of a WebSocket${advice}`;
    return { problem: 'unreachable', message };
  }
  const code = systemCode(error);
  if (code === null) return null;
  const reason = tlsReason(error);
  const shown = describeTlsCode(code, reason);
  const advice = reason === null ? null : tlsAdvice(reason);
  const then = advice === null ? '' : `: ${advice}`;
  if (isOurCertificateRefused(code, reason))
    return { problem: 'refused', message: `${broker} does not accept our certificate (${shown})` };
  if (isAboutOwnFiles(code)) {
    const message = `caFile, certFile or keyFile for ${broker} cannot be used (${shown})${then}`;
    return { problem: 'refused', message };
  }
  if (isDistrust(code)) {
    // Without a code of Node's it is none of these three.
    const usual = code === 'UNSPECIFIED' ? '' : ': check caFile, the name and the clock';
    const message = `the certificate of ${broker} is not trusted (${shown})${then || usual}`;
    return { problem: 'unreachable', message };
  }
  return reason === null
    ? null
    : { problem: 'unreachable', message: `${broker} fails at TLS (${shown})${then}` };
}
