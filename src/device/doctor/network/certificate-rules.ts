import { fixOf, tlsAdvice } from '../../../core/network/tls-advice.ts';
import type { WallMs } from '../../../protocol/common/time.ts';
import { count, type Outcome, ok, problem, warning } from '../report/finding.ts';

/** A server's certificate. */
export interface CertificateFacts {
  /** Names and addresses that the certificate is valid for, such as `DNS:broker.example`. */
  readonly names: readonly string[];
  readonly issuer: string;
  /** Wall-clock milliseconds. */
  readonly validFrom: number;
  readonly validTo: number;
  /** Error code of the TLS library if the certificate is not trusted, such as CERT_HAS_EXPIRED; null: it is trusted. */
  readonly distrust: string | null;
  /** OpenSSL's reason, if the code alone explains nothing. */
  readonly distrustReason?: string | null;
}

/** Remaining validity (days) below which a warning is due: enough time to renew a certificate manually. */
export const RENEW_WITHIN_DAYS = 21;
export const DAY_MS = 86_400_000;

export interface CertificateQuestion {
  /** The server's name, such as `broker.example`. */
  readonly host: string;
  /** Wall-clock milliseconds; null while the clock is not set. */
  readonly wall: WallMs | null;
  /** Configuration key of the certificate authority. */
  readonly caKey: string;
}

export function judgeCertificate(facts: CertificateFacts, question: CertificateQuestion): Outcome {
  const { host, wall } = question;
  const data = {
    certificate_names: facts.names,
    certificate_issuer: facts.issuer,
    certificate_from: day(facts.validFrom, 'whole'),
    certificate_until: day(facts.validTo, 'whole'),
    ...(wall !== null && { certificate_days_left: Math.floor((facts.validTo - wall) / DAY_MS) }),
  };
  if (facts.distrust !== null) return distrusted(facts, facts.distrust, question, data);
  if (wall === null)
    return ok(
      `its certificate is trusted, and valid from ${day(facts.validFrom)} to ${day(facts.validTo)}`,
      data,
    );
  const days = Math.floor((facts.validTo - wall) / DAY_MS);
  const until = `until ${day(facts.validTo)} (${count(days, 'day')})`;
  if (days >= RENEW_WITHIN_DAYS) return ok(`certificate good ${until}`, data);
  return warning(
    `the certificate of ${host} is good only ${until}`,
    `Have the certificate of ${host} renewed before it ends.`,
    data,
  );
}

function distrusted(
  facts: CertificateFacts,
  code: string,
  question: CertificateQuestion,
  data: Outcome['data'],
): Outcome {
  const { host, wall } = question;
  const clock =
    wall === null
      ? "This machine's clock is not set: let it reach a time server."
      : `If this machine's date (${day(wall)}) is wrong, set it.`;
  if (code === 'CERT_HAS_EXPIRED')
    return problem(
      `the certificate of ${host} ended on ${day(facts.validTo)}`,
      `Have it renewed. ${clock}`,
      data,
    );
  if (code === 'CERT_NOT_YET_VALID')
    return problem(`the certificate of ${host} is not valid before ${day(facts.validFrom)}`, clock, {
      ...data,
      certificate_begins: 'later',
    });
  if (code === 'ERR_TLS_CERT_ALTNAME_INVALID') {
    const names = facts.names.length === 0 ? 'no name' : facts.names.join(', ');
    return problem(
      `the certificate of ${host} is for ${names}`,
      'Use an address with one of these names, or have a certificate issued for this one.',
      data,
    );
  }
  return untrusted(facts, code, question, data);
}

/** The authority, or the signature, is not trusted. */
function untrusted(
  { issuer, distrustReason: reason = null }: CertificateFacts,
  code: string,
  { host, caKey }: CertificateQuestion,
  data: Outcome['data'],
): Outcome {
  if (reason !== null) {
    const advice = tlsAdvice(reason);
    return problem(
      `the certificate of ${host} is not trusted (${reason}); it was issued by ${issuer}`,
      advice === null ? 'Show this reason to the authority that issued it.' : fixOf(advice),
      data,
    );
  }
  return problem(
    `the certificate of ${host} is not trusted (${code}); it was issued by ${issuer}`,
    code === 'DEPTH_ZERO_SELF_SIGNED_CERT'
      ? `It is self-signed. If you trust it, set ${caKey} to a PEM file with this certificate.`
      : `Set ${caKey} to the PEM file of the authority that issued it.`,
    data,
  );
}

/** Formats a date; `whole` adds the time. */
export function day(wallMs: number, form: 'day' | 'whole' = 'day'): string {
  if (!Number.isFinite(wallMs)) return 'an unknown day';
  const text = new Date(wallMs).toISOString();
  return form === 'day' ? text.slice(0, 10) : text;
}
