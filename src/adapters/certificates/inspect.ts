/** Inspection of a certificate that came from outside. */
import { createPrivateKey, X509Certificate } from 'node:crypto';
import type { OfferedFacts } from '../../core/offered-certificate.ts';
import type { CertificateInfo } from '../../ports/certificate.ts';

const CERTIFICATE = /-----BEGIN CERTIFICATE-----[A-Za-z0-9+/=\s]+-----END CERTIFICATE-----/g;
/** Longest chain (certificates): the device's own and its intermediates. */
const MOST_IN_CHAIN = 4;
const CLIENT_AUTH = '1.3.6.1.5.5.7.3.2';

/** The certificates in a text, in order; null when one is unreadable, or there are none or too many. */
export function readCertificates(pem: string): X509Certificate[] | null {
  const found = pem.match(CERTIFICATE) ?? [];
  if (found.length === 0) return null;
  try {
    return found.map((text) => new X509Certificate(text));
  } catch {
    return null;
  }
}

export function infoOf(certificate: X509Certificate): CertificateInfo {
  return {
    subject: certificate.subject,
    validFrom: Date.parse(certificate.validFrom),
    validTo: Date.parse(certificate.validTo),
  };
}

/**
 * @param key PEM of the private key of the request
 * @param authorities PEM of the authorities that the device knows
 * @returns null when it cannot be read
 */
export function inspect(pem: string, key: string, authorities: string, wall: number): OfferedFacts | null {
  const chain = readCertificates(pem);
  const [own, ...between] = chain ?? [];
  if (own === undefined || between.length >= MOST_IN_CHAIN) return null;
  const usages = own.keyUsage as readonly string[] | undefined;
  return {
    ...infoOf(own),
    isForKey: own.checkPrivateKey(createPrivateKey(key)),
    isAuthority: own.ca,
    isForClients: usages === undefined || usages.includes(CLIENT_AUTH),
    isTrusted: isTrusted(own, between, readCertificates(authorities) ?? [], wall),
  };
}

/** Follows the issuers until one is signed by a known authority. */
function isTrusted(
  own: X509Certificate,
  between: readonly X509Certificate[],
  authorities: readonly X509Certificate[],
  wall: number,
): boolean {
  let last = own;
  for (let step = 0; step <= MOST_IN_CHAIN; step += 1) {
    const signed = (issuer: X509Certificate): boolean => hasSigned(issuer, last, wall);
    if (authorities.some(signed)) return true;
    const next = between.find(signed);
    if (next === undefined) return false;
    last = next;
  }
  return false;
}

function hasSigned(issuer: X509Certificate, certificate: X509Certificate, wall: number): boolean {
  const { validFrom, validTo } = infoOf(issuer);
  if (!issuer.ca || !(validFrom <= wall && wall < validTo)) return false;
  try {
    return certificate.checkIssued(issuer) && certificate.verify(issuer.publicKey);
  } catch {
    return false;
  }
}
