import { attempt, type Defects } from '../../machine/defects.ts';
import type { Opening, SignatureReader } from '../../ports/signature.ts';

/** Opens compact JWS with the owner's public keys, and calls back once. */
export interface SignedContentReader {
  open(jws: string, opened: (opening: Opening) => void): void;
}

/** An exception in a callback is reported: as a rejection, it would end the process. */
export function guardSignatures(reader: SignatureReader, defects: Defects): SignedContentReader {
  return {
    open(jws, opened) {
      void reader.open(jws).then((opening) => attempt(defects, 'signed message', () => opened(opening)));
    },
  };
}
