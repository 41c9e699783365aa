/** Why TLS or the request for a WebSocket failed, with the words of OpenSSL or the status of HTTP. */
import { explainHttpAnswer } from '../../core/network/http-answer.ts';
import { tlsAdvice } from '../../core/network/tls-advice.ts';
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

/** Null: the connection failed for another reason. */
export function explainHandshake(broker: string, error: unknown): Explanation | null {
  if (error instanceof UnexpectedAnswer)
    return { problem: 'unreachable', message: explainHttpAnswer(broker, error.status, error.message) };
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
    // A failure without a code of Node's has none of these three reasons.
    const usual = code === 'UNSPECIFIED' ? '' : ': check caFile, the name and the clock';
    const message = `the certificate of ${broker} is not trusted (${shown})${then || usual}`;
    return { problem: 'unreachable', message };
  }
  return reason === null
    ? null
    : { problem: 'unreachable', message: `${broker} fails at TLS (${shown})${then}` };
}
