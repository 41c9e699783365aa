/** What is wrong with a signature. */
export type SignatureFault =
  /** Not a compact JWS. */
  | 'malformed'
  /** Unsigned, or signed with an algorithm that is not accepted. */
  | 'algorithm'
  /** Signed with a key that is not one of the owner's. */
  | 'unknown_key'
  | 'signature';

/** The content of a JWS whose signature is valid. */
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
