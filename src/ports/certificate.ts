import type { WallMs } from '../protocol/common/time.ts';
/** The client certificate by which the broker knows the device. Private keys never leave the port. */
export interface DeviceCertificate {
  /** The certificate that a broker has accepted. */
  readonly present: CertificateInfo;
  /** The next certificate, which no broker has accepted yet; null: there is none. */
  readonly successor: CertificateInfo | null;
  /** The pending request. */
  readonly request: { readonly id: string; readonly csr: string } | null;
  /** The certificate that the last connection uses; null: none of these, as another broker may need another login. */
  readonly shown: 'present' | 'new' | null;
  /** Selects the certificate for the next connection. */
  use(which: 'present' | 'new'): void;
  /** Makes a new key and its certificate request, and stores them. Returns null, or why they cannot be stored. */
  draft(id: string): Promise<string | null>;
  /**
   * Takes the answer to a request: a valid certificate becomes the successor.
   * @param wall wall-clock milliseconds
   */
  offer(pem: string, wall: WallMs): Promise<CertificateOffer>;
  /** The successor works. Returns null, or why that cannot be stored. */
  adopt(): Promise<string | null>;
  /** The successor does not work. Returns null, or why that cannot be stored. */
  drop(): Promise<string | null>;
}

export interface CertificateInfo {
  /** The subject with one line for each part, as Node.js returns it. */
  readonly subject: string;
  /** Wall-clock milliseconds. */
  readonly validFrom: number;
  readonly validTo: number;
}

/** `message` is the rest of a sentence that begins with "the certificate". */
export type CertificateOffer =
  | { readonly ok: true }
  | { readonly ok: false; readonly code: 'wrong_certificate' | 'not_kept'; readonly message: string };
