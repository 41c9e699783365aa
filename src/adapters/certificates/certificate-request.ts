/**
 * Certificate requests (PKCS #10, RFC 2986) of one kind: a common name and a P-256 key, signed with ECDSA and SHA-256.
 * Node creates neither requests nor certificates, and `openssl` may be missing on a device.
 */
import { createPublicKey, generateKeyPairSync, type KeyObject, sign, verify } from 'node:crypto';
import { DerError, type DerValue, der, readDer, TAG } from './der.ts';

/** 2.5.4.3 */
const COMMON_NAME = Buffer.from('550403', 'hex');
/** 1.2.840.10045.4.3.2 */
const ECDSA_SHA256 = Buffer.from('2a8648ce3d040302', 'hex');
const PEM =
  /^\s*-----BEGIN CERTIFICATE REQUEST-----\s+([A-Za-z0-9+/=\s]+?)-----END CERTIFICATE REQUEST-----\s*$/;
const PEM_LINE_CHARS = 64;

/** A new private key (PKCS8, PEM), and its certificate request. */
export function createRequest(commonName: string): { key: string; request: string } {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const name = der(TAG.object, COMMON_NAME);
  const subject = der(TAG.sequence, name, der(TAG.utf8, Buffer.from(commonName)));
  const info = der(
    TAG.sequence,
    der(TAG.integer, Buffer.from([0])),
    der(TAG.sequence, der(TAG.set, subject)),
    publicKey.export({ type: 'spki', format: 'der' }),
    der(TAG.attributes),
  );
  const signature = sign('sha256', info, privateKey);
  const whole = der(
    TAG.sequence,
    info,
    der(TAG.sequence, der(TAG.object, ECDSA_SHA256)),
    der(TAG.bits, Buffer.from([0]), signature),
  );
  return {
    key: privateKey.export({ type: 'pkcs8', format: 'pem' }) as string,
    request: toPem(whole),
  };
}

function toPem(bytes: Buffer): string {
  const lines = bytes.toString('base64').match(new RegExp(`.{1,${PEM_LINE_CHARS}}`, 'g')) ?? [];
  const label = 'CERTIFICATE REQUEST';
  return [`-----BEGIN ${label}-----`, ...lines, `-----END ${label}-----`, ''].join('\n');
}

/** The content of a request; its signer has the private key. */
export interface CertificateRequest {
  readonly commonName: string;
  readonly publicKey: KeyObject;
}

/** Null when the text is not a request of this kind, or is not signed with its own key. */
export function readRequest(pem: string): CertificateRequest | null {
  const [, base64] = PEM.exec(pem) ?? [];
  if (base64 === undefined) return null;
  try {
    return readWhole(Buffer.from(base64, 'base64'));
  } catch (error) {
    if (error instanceof DerError) return null;
    throw error;
  }
}

function readWhole(bytes: Buffer): CertificateRequest | null {
  const [whole, ...more] = readDer(bytes);
  if (whole?.tag !== TAG.sequence || more.length > 0) return null;
  const [info, algorithm, signature] = readDer(whole.content);
  if (info?.tag !== TAG.sequence || algorithm === undefined || signature?.tag !== TAG.bits) return null;
  const [, subject, spki] = readDer(info.content);
  if (subject === undefined || spki === undefined) return null;
  const isOurs = algorithm.whole.equals(der(TAG.sequence, der(TAG.object, ECDSA_SHA256)));
  const publicKey = keyOf(spki);
  const commonName = commonNameOf(subject);
  if (!isOurs || publicKey === null || commonName === null || signature.content[0] !== 0) return null;
  const isSigned = verify('sha256', info.whole, publicKey, signature.content.subarray(1));
  return isSigned ? { commonName, publicKey } : null;
}

function keyOf({ whole }: DerValue): KeyObject | null {
  try {
    const key = createPublicKey({ key: whole, type: 'spki', format: 'der' });
    return key.asymmetricKeyDetails?.namedCurve === 'prime256v1' ? key : null;
  } catch {
    return null;
  }
}

/** The common name, if it is the only part of the name. */
function commonNameOf({ content }: DerValue): string | null {
  const [set, ...others] = readDer(content);
  if (set?.tag !== TAG.set || others.length > 0) return null;
  const [pair, ...more] = readDer(set.content);
  if (pair?.tag !== TAG.sequence || more.length > 0) return null;
  const [type, value] = readDer(pair.content);
  if (type?.tag !== TAG.object || !type.content.equals(COMMON_NAME)) return null;
  return value?.tag === TAG.utf8 || value?.tag === TAG.printable ? value.content.toString('utf8') : null;
}
