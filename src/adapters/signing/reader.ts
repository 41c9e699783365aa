import { compactVerify } from 'jose';
import type { SignatureReader } from '../../ports/signature.ts';
import { SIGNATURE_ALGORITHM } from '../../protocol/signed.ts';
import { readCompact } from './jws.ts';
import type { PublicKey } from './signing-keys.ts';

/** Verifies signatures with the owner's keys: any of them is accepted, so that keys can be replaced. */
export function createSignatureReader(keys: readonly PublicKey[]): SignatureReader {
  const known = new Map(keys.map(({ kid, key }) => [kid, key]));
  return {
    async open(jws) {
      const read = readCompact(jws);
      if (read === null) return { ok: false, why: 'malformed' };
      const { alg, kid, typ } = read.header;
      if (alg !== SIGNATURE_ALGORITHM) return { ok: false, why: 'algorithm' };
      const key = typeof kid === 'string' ? known.get(kid) : undefined;
      if (key === undefined) return { ok: false, why: 'unknown_key' };
      try {
        await compactVerify(jws, key, { algorithms: [SIGNATURE_ALGORITHM] });
        return { ok: true, content: { typ, payload: read.payload } };
      } catch {
        return { ok: false, why: 'signature' };
      }
    },
  };
}
