/** What a new certificate must fulfil. */

const DAY_MS = 86_400_000;
/** Tolerated clock skew (ms): a certificate that becomes valid within this time counts as valid. */
const CLOCKS_APART_MS = 600_000;

/** Validity of a certificate, wall-clock milliseconds. */
export interface CertificateLife {
  readonly validFrom: number;
  readonly validTo: number;
}

/** The facts of an offered certificate. */
export interface OfferedFacts extends CertificateLife {
  readonly subject: string;
  /** The certificate matches the key of the request. */
  readonly isForKey: boolean;
  /** The certificate may issue others. */
  readonly isAuthority: boolean;
  /** The certificate is usable for clients. */
  readonly isForClients: boolean;
  /** The certificate's chain ends at one of the device's authorities, and every certificate of the chain is valid now. */
  readonly isTrusted: boolean;
}

/** The fault of an offered certificate; completes "the certificate ". Null: none. */
export function faultOf(
  offered: OfferedFacts,
  present: { readonly subject: string },
  wall: number,
): string | null {
  if (!offered.isForKey) return "is for another key than the request's";
  if (offered.subject !== present.subject)
    return `is for "${oneLine(offered.subject)}", not for "${oneLine(present.subject)}"`;
  if (offered.isAuthority) return 'belongs to an authority, not to a device';
  if (!offered.isForClients) return 'is not usable for clients (extendedKeyUsage clientAuth)';
  if (!offered.isTrusted) return 'was not issued by an authority of mqtt.caFile that is valid now';
  if (!(offered.validTo > wall)) return `has ended on ${day(offered.validTo)}, by this device's clock`;
  if (!(offered.validFrom <= wall + CLOCKS_APART_MS))
    return `is not valid before ${day(offered.validFrom)}, by this device's clock`;
  return offered.validTo - wall >= DAY_MS ? null : `ends on ${day(offered.validTo)}, within a day`;
}

/** Joins a subject, which has one line per part. */
function oneLine(subject: string): string {
  return subject.replaceAll(/\s+/g, ' ').slice(0, 200);
}

/** A day in ISO 8601. */
export function day(wallMs: number): string {
  return Number.isFinite(wallMs) && Math.abs(wallMs) <= 8.64e15
    ? new Date(wallMs).toISOString().slice(0, 10)
    : 'an unknown day';
}
