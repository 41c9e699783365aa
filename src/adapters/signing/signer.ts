import { CompactSign } from 'jose';
import type { WallMs } from '../../protocol/common/time.ts';
import { SIGNATURE_ALGORITHM, type SignedType } from '../../protocol/signed.ts';
import type { PrivateKey } from './signing-keys.ts';

/** Signs messages with the owner's private key. */
export interface Signer {
  /** The key's RFC 7638 thumbprint. */
  readonly kid: string;
  /** @param device the topic base that the message is for */
  sign(type: SignedType, device: string, body: object, wallMs: WallMs | null): Promise<string>;
}

export function createSigner({ kid, key }: PrivateKey): Signer {
  return {
    kid,
    sign(type, device, body, wallMs) {
      const payload = JSON.stringify({ ...body, device, iat: Math.floor((wallMs ?? 0) / 1000) });
      return new CompactSign(new TextEncoder().encode(payload))
        .setProtectedHeader({ alg: SIGNATURE_ALGORITHM, kid, typ: type })
        .sign(key);
    },
  };
}
