import {
  createHash,
  createPrivateKey,
  createPublicKey,
  generateKeyPairSync,
  type KeyObject,
} from 'node:crypto';
import { UnreadableFile } from '../config/read-file.ts';
import { readTextFile } from '../config/text-file.ts';

export interface PublicKey {
  /** RFC 7638 thumbprint. */
  readonly kid: string;
  readonly key: KeyObject;
}
export type PrivateKey = PublicKey;

/** An unusable key. The message names the file, never its content. */
export class KeyError extends Error {}

const WRITABLE_BY_ALL = 0o002;
const LARGEST_KEY_BYTES = 16 * 1024;

/** @throws KeyError */
export function readPublicKey(file: string): PublicKey {
  const pem = readKeyFile(file);
  if (/PRIVATE KEY-----/.test(pem))
    throw new KeyError(
      `the file ${file} holds a private key, which belongs to the backend alone: put the public key there`,
    );
  return named(
    keyOf(() => createPublicKey(pem), `the file ${file} holds no public key in PEM`),
    file,
  );
}

function readKeyFile(file: string): string {
  try {
    const { mode, text } = readTextFile(file, LARGEST_KEY_BYTES);
    if ((mode & WRITABLE_BY_ALL) === 0) return text;
  } catch (error) {
    if (!(error instanceof UnreadableFile)) throw error;
    throw new KeyError(
      error.code === 'ENOENT'
        ? `the key file ${file} does not exist`
        : `the key file ${file} cannot be read: ${error.message}`,
    );
  }
  throw new KeyError(`the key file ${file} can be changed by everyone: chmod o-w ${file}`);
}

/** @param file the key's source, for errors. @throws KeyError */
export function parsePrivateKey(pem: string, file: string): PrivateKey {
  const key = keyOf(() => createPrivateKey(pem), `the file ${file} holds no private key in PEM`);
  return named(key, file);
}

/** A new pair, PKCS8 and SPKI. */
export function createKeyPair(): { privatePem: string; publicPem: string; kid: string } {
  const { privateKey, publicKey } = generateKeyPairSync('ed25519');
  return {
    privatePem: privateKey.export({ type: 'pkcs8', format: 'pem' }) as string,
    publicPem: publicKey.export({ type: 'spki', format: 'pem' }) as string,
    kid: thumbprint(publicKey),
  };
}

function keyOf(make: () => KeyObject, otherwise: string): KeyObject {
  try {
    return make();
  } catch {
    throw new KeyError(`${otherwise}; "dragoman-backend keys create" makes a pair`);
  }
}

function named(key: KeyObject, file: string): PublicKey {
  const { asymmetricKeyType } = key;
  if (asymmetricKeyType !== 'ed25519')
    throw new KeyError(
      `the file ${file} holds a key of type ${asymmetricKeyType ?? 'unknown'}, not Ed25519; "dragoman-backend keys create" makes a pair`,
    );
  return { kid: thumbprint(key.type === 'private' ? createPublicKey(key) : key), key };
}

/** RFC 7638: the hash of the key's required members, in order. */
function thumbprint(key: KeyObject): string {
  const { crv, kty, x } = key.export({ format: 'jwk' });
  return createHash('sha256').update(JSON.stringify({ crv, kty, x })).digest('base64url');
}
