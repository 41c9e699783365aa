import type { Opening, SignatureReader } from '../../ports/signature.ts';
import { attempt, type Defects } from './defects.ts';

/** Opens compact JWS with the owner's public keys. Never throws, nor does what it hands the content to reach anybody else. */
export interface SignedContentReader {
  open(jws: string, opened: (opening: Opening) => void): void;
}

/** Where a signature cannot be checked at all, it counts as wrong. */
export function guardSignatures(reader: SignatureReader, defects: Defects): SignedContentReader {
  const read = async (jws: string): Promise<Opening> => {
    try {
      return await reader.open(jws);
    } catch (error) {
      defects('signatures.open', error);
      return { ok: false, why: 'signature' };
    }
  };
  return {
    open(jws, opened) {
      void read(jws).then((opening) => attempt(defects, 'signed message', () => opened(opening)));
    },
  };
}
