import { createPrivateKey, X509Certificate } from 'node:crypto';
import { LARGEST_CONFIG_BYTES, readBoundedFile, UnreadableFile } from './read-file.ts';

/** A certificate file cannot be used; the message names key and file. */
export class UnreadablePem extends Error {}

/** As OpenSSL sees it: at the beginning of a line. */
const CERTIFICATE = /^(?=-----BEGIN (?:TRUSTED |X509 )?CERTIFICATE-----)/m;
const BYTE_ORDER_MARK = /^(?:\ufeff|\xef\xbb\xbf)/;
const COPY_WHOLE = 'copy it whole, from "-----BEGIN" to "-----END"';

/**
 * What is wrong with a text of certificates, as the end of a sentence; null: nothing. TLS would take those before one that
 * cannot be read, and say nothing of the rest.
 */
export function certificateFault(text: string): string | null {
  const parts = text.replace(BYTE_ORDER_MARK, '').split(CERTIFICATE);
  const found = parts.filter((part) => CERTIFICATE.test(part));
  if (found.length === 0) return 'holds no certificate in PEM';
  const wrong = found.findIndex((part) => !canBeRead(() => new X509Certificate(part)));
  if (wrong < 0) return null;
  const which =
    found.length === 1 ? 'a certificate' : `${found.length} certificates, and number ${wrong + 1}`;
  return `holds ${which} that cannot be read: ${COPY_WHOLE}`;
}

/** The same of a private key. Nothing of the key stands in it. */
export function privateKeyFault(text: string): string | null {
  if (/^-----BEGIN ENCRYPTED|^Proc-Type:.*ENCRYPTED/m.test(text))
    return 'holds a private key that is protected by a password: write it without ("openssl pkey -in key.pem")';
  if (canBeRead(() => createPrivateKey(text))) return null;
  return `holds no private key in PEM that can be read: ${COPY_WHOLE}`;
}

/** The same of a private key that is not that of the first certificate; both can be read. */
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

/** Reads a certificate, an authority or several, each of which can be used. @throws UnreadablePem */
export function readCertificateFile(key: string, file: string): Buffer {
  const bytes = readPem(key, file);
  const fault = certificateFault(bytes.toString('latin1'));
  if (fault !== null) throw new UnreadablePem(`${key}: the file ${file} ${fault}`);
  return bytes;
}

/** Reads a PEM file as it stands. @param key of the configuration, for the error. @throws UnreadablePem */
export function readPem(key: string, file: string): Buffer {
  try {
    return readBoundedFile(file, LARGEST_CONFIG_BYTES).bytes;
  } catch (error) {
    const reason = error instanceof UnreadableFile ? (error.code ?? error.message) : 'unknown reason';
    throw new UnreadablePem(`${key}: the file ${file} cannot be read (${reason})`);
  }
}
