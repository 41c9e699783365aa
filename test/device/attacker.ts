/** Makes signed messages by hand, for attacks; shares no code with the attacked program. */
import { createHash, createHmac, generateKeyPairSync, type KeyObject, sign } from 'node:crypto';

export interface Pair {
  readonly publicKey: KeyObject;
  readonly privateKey: KeyObject;
  readonly kid: string;
  readonly publicPem: string;
}

export function makePair(): Pair {
  const { publicKey, privateKey } = generateKeyPairSync('ed25519');
  const { x } = publicKey.export({ format: 'jwk' });
  const kid = createHash('sha256').update(`{"crv":"Ed25519","kty":"OKP","x":"${x}"}`).digest('base64url');
  return {
    publicKey,
    privateKey,
    kid,
    publicPem: publicKey.export({ type: 'spki', format: 'pem' }) as string,
  };
}

const encode = (text: string): string => Buffer.from(text).toString('base64url');
const encodeJson = (value: unknown): string =>
  encode(typeof value === 'string' ? value : JSON.stringify(value));

/** A compact JWS; header and payload may be strings, to be encoded in any way. */
export function jws(pair: Pair, payload: unknown, header: unknown = {}): string {
  const whole =
    typeof header === 'string'
      ? header
      : { alg: 'EdDSA', kid: pair.kid, typ: 'dragoman+token', ...(header as object) };
  const input = `${encodeJson(whole)}.${encodeJson(payload)}`;
  return `${input}.${sign(null, Buffer.from(input), pair.privateKey).toString('base64url')}`;
}

/** The same with an HMAC whose "secret" is public. */
export function hmacJws(
  secret: string | Buffer,
  payload: unknown,
  kid: string,
  alg = 'HS256',
  bits = 256,
): string {
  const input = `${encodeJson({ alg, kid, typ: 'dragoman+token' })}.${encodeJson(payload)}`;
  return `${input}.${createHmac(`sha${bits}`, secret).update(input).digest('base64url')}`;
}

export function unsignedJws(payload: unknown, header: object, signature = ''): string {
  return `${encodeJson(header)}.${encodeJson(payload)}.${signature}`;
}
