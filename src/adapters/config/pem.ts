import { createPrivateKey, X509Certificate } from 'node:crypto';
import { createSecureContext } from 'node:tls';
import { tlsAdvice } from '../../core/network/tls-advice.ts';
import { unseenCharacters } from '../../protocol/common/plain-text.ts';
import { tlsReason } from '../network/tls-reason.ts';
import { LARGEST_CONFIG_BYTES } from './read-file.ts';
import { readTextFile, unreadableReason } from './text-file.ts';

/** A certificate file is unusable; the message names key and file. */
export class UnreadablePem extends Error {}

/** As OpenSSL recognises it: at the beginning of a line. */
const CERTIFICATE = /^(?=-----BEGIN (?:TRUSTED |X509 )?CERTIFICATE-----)/m;
const BYTE_ORDER_MARK = /^(?:\ufeff|\xef\xbb\xbf)/;
const COPY_WHOLE = 'copy it whole, from "-----BEGIN" to "-----END"';

/**
 * The fault of a text with certificates, as the end of a sentence; null when there is none. TLS itself would silently ignore an
 * unreadable certificate and all that follow it.
 */
export function certificateFault(text: string): string | null {
  const parts = text.replace(BYTE_ORDER_MARK, '').split(CERTIFICATE);
  const certificateParts = parts.filter((part) => CERTIFICATE.test(part));
  if (certificateParts.length === 0) return `holds no certificate in PEM${whyUnusable(text)}`;
  const wrong = certificateParts.findIndex((part) => !canBeRead(() => new X509Certificate(part)));
  if (wrong < 0) return null;
  const which =
    certificateParts.length === 1
      ? 'a certificate'
      : `${certificateParts.length} certificates, and number ${wrong + 1}`;
  return `holds ${which} that cannot be read${whyUnusable(text)}: ${COPY_WHOLE}`;
}

/** The fault of our own certificate, which must also be strong enough for TLS. */
export function ownCertificateFault(text: string): string | null {
  const fault = certificateFault(text);
  if (fault !== null) return fault;
  const refusal = tlsRefusal(text.replace(BYTE_ORDER_MARK, ''));
  return refusal === null ? null : `holds a certificate that TLS refuses (${refusal})`;
}

/** Why TLS refuses to use a certificate as our own, and what to do; null: it accepts it. */
export function tlsRefusal(cert: string): string | null {
  const reason = openSslRefusal(cert) ?? (isSignedWeakly(cert) ? 'ca md too weak' : null);
  if (reason === null) return null;
  const advice = tlsAdvice(reason);
  return advice === null ? reason : `${reason}: ${advice}`;
}

function openSslRefusal(cert: string): string | null {
  try {
    createSecureContext({ cert });
    return null;
  } catch (error) {
    return tlsReason(error) ?? 'unknown reason';
  }
}

/** Object identifiers in DER: MD5 and SHA-1 with RSA, SHA-1 with ECDSA. */
const WEAK_SIGNATURES = ['06092a864886f70d010104', '06092a864886f70d010105', '06072a8648ce3d0401'];

/** OpenSSL before 3.5 refuses a weakly signed certificate of our own. Newer versions leave the refusal to the server. */
function isSignedWeakly(cert: string): boolean {
  const { raw } = new X509Certificate(cert);
  return WEAK_SIGNATURES.some((identifier) => raw.includes(identifier, 'hex'));
}

/** The fault of a private key, as the end of a sentence that reveals nothing about the key. */
export function privateKeyFault(text: string): string | null {
  if (/^-----BEGIN ENCRYPTED|^Proc-Type:.*ENCRYPTED/m.test(text))
    return 'holds a private key that is protected by a password: remove the password ("openssl pkey -in key.pem")';
  if (canBeRead(() => createPrivateKey(text))) return null;
  return `holds no private key in PEM that can be read${whyUnusable(text)}: ${COPY_WHOLE}`;
}

const INDENTED = /^[^\S\n]+-----BEGIN /m;

/** What copying has damaged in a PEM text, in parentheses; empty when it is unknown. */
function whyUnusable(text: string): string {
  if (INDENTED.test(text)) return ' ("-----BEGIN" is not at the beginning of its line)';
  const unseen = text.includes('-----BEGIN ') ? unseenCharacters(text.trim()) : null;
  return unseen === null ? '' : ` (it ${unseen})`;
}

/** The fault of a private key that does not belong to the first certificate; both must be readable. */
export function pairFault(certificates: string, key: string): string | null {
  if (new X509Certificate(certificates).checkPrivateKey(createPrivateKey(key))) return null;
  return 'holds the key of another certificate than certFile: take both from the same folder';
}

function canBeRead(read: () => unknown): boolean {
  try {
    read();
    return true;
  } catch {
    return false;
  }
}

/**
 * Reads one or more certificates, each of which must be usable.
 * @param faultOf `ownCertificateFault` for our own
 * @throws UnreadablePem
 */
export function readCertificateFile(key: string, file: string, faultOf = certificateFault): Buffer {
  const bytes = readPem(key, file);
  const fault = faultOf(bytes.toString('utf8'));
  if (fault !== null) throw new UnreadablePem(`${key}: the file ${file} ${fault}`);
  return bytes;
}

/** Reads a PEM file, without a byte order mark. @param key of the configuration, for the error. @throws UnreadablePem */
export function readPem(key: string, file: string): Buffer {
  try {
    return readTextFile(file, LARGEST_CONFIG_BYTES).bytes;
  } catch (error) {
    throw new UnreadablePem(`${key}: the file ${file} cannot be read${unreadableReason(error)}`);
  }
}
