import type { WallMs } from '../protocol/time.ts';
/** The client certificate by which the broker knows the device. Private keys never leave the port. */
export interface DeviceCertificate {
  /** The one that has proven itself. */
  readonly present: CertificateInfo;
  /** Its successor, which no broker has taken yet; null: there is none. */
  readonly successor: CertificateInfo | null;
  /** What was asked for and not answered yet. */
  readonly request: { readonly id: string; readonly csr: string } | null;
  /** The last connection showed one of the two; at another broker it may have another login. */
  readonly isShown: boolean;
  /** Which one the next connection uses. */
  use(which: 'present' | 'new'): void;
  /** A new key and the request for its certificate, kept over a restart. Null, or why it cannot be kept. */
  draft(id: string): Promise<string | null>;
  /**
   * What was answered: becomes the successor where there is nothing wrong with it.
   * @param wall wall-clock milliseconds
   */
  offer(pem: string, wall: WallMs): Promise<CertificateOffer>;
  /** The successor holds. Null, or why that cannot be kept. */
  adopt(): Promise<string | null>;
  /** The successor does not. Null, or why that cannot be kept. */
  drop(): Promise<string | null>;
}

export interface CertificateInfo {
  /** As the library writes it, a line for each part. */
  readonly subject: string;
  /** Wall-clock milliseconds. */
  readonly validFrom: number;
  readonly validTo: number;
}

/** `message` goes on after "the certificate ". */
export type CertificateOffer =
  | { readonly ok: true }
  | { readonly ok: false; readonly code: 'wrong_certificate' | 'not_kept'; readonly message: string };
