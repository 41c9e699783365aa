/** What is wrong with a signature. */
export type SignatureFault =
  /** No compact JWS, to the letter. */
  | 'malformed'
  /** Signed in a way that is not taken, or not at all. */
  | 'algorithm'
  /** Signed with a key that the owner has not given. */
  | 'unknown_key'
  | 'signature';

/** What a JWS holds, once it is known who signed it. */
export interface SignedContent {
  readonly typ: unknown;
  readonly payload: string;
}

export type Opening =
  | { readonly ok: true; readonly content: SignedContent }
  | { readonly ok: false; readonly why: SignatureFault };

/** Opens compact JWS with the owner's public keys. Never rejects. */
export interface SignatureReader {
  open(jws: string): Promise<Opening>;
}
