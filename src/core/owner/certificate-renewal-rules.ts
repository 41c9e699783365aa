/** When to renew the device's certificate, what a new one must fulfil, and which one the next connection uses. */

const DAY_MS = 86_400_000;
/** Remaining validity from which the owner is warned (ms). */
export const WARN_BEFORE_MS = 14 * DAY_MS;
/** Share of a certificate's life until its renewal; `SPREAD`: a random addition that spreads a fleet. */
const RENEW_AFTER = 2 / 3;
const SPREAD = 1 / 20;
/** Tolerated clock skew (ms): a certificate that becomes valid within this time counts as valid. */
const CLOCKS_APART_MS = 600_000;

/** Validity of a certificate, wall-clock milliseconds. */
export interface CertificateLife {
  readonly validFrom: number;
  readonly validTo: number;
}

/** When to request a successor. @param draw from 0 to 1, fixed per device */
export function renewalAt({ validFrom, validTo }: CertificateLife, draw: number): number {
  return validFrom + (validTo - validFrom) * (RENEW_AFTER + draw * SPREAD);
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

/** Consecutive failed connections without a refusal after which the other certificate is tried. */
const FAILURES_TO_CHANGE = 3;

/** A new certificate on trial beside the proven certificate. The certificate that the broker accepts stays. */
export interface CertificateTrial {
  /** The certificate of the next connection. */
  readonly uses: 'present' | 'new';
  /** Consecutive failed connections with that certificate. */
  readonly failures: number;
  /** The broker refused the new certificate. */
  readonly isDoubted: boolean;
}

export const NEW_TRIAL: CertificateTrial = { uses: 'new', failures: 0, isDoubted: false };

/** The end of a connection, or its success with all subscriptions. */
export type ConnectionOutcome = 'up' | 'refused' | 'failed';

/**
 * The verdict of a connection on its certificate. `adopt`: the new one works. `drop`: the broker accepts the present
 * one, and refused the new one.
 */
export function noteConnection(
  trial: CertificateTrial,
  outcome: ConnectionOutcome,
): { readonly trial: CertificateTrial; readonly verdict: 'open' | 'adopt' | 'drop' } {
  const { uses, isDoubted } = trial;
  if (outcome === 'up') {
    if (uses === 'new') return { trial, verdict: 'adopt' };
    if (isDoubted) return { trial, verdict: 'drop' };
    // Failures without a refusal may be due to the network: the next connection tries the new one again.
    return { trial: NEW_TRIAL, verdict: 'open' };
  }
  const failures = trial.failures + 1;
  if (outcome === 'failed' && failures < FAILURES_TO_CHANGE)
    return { trial: { ...trial, failures }, verdict: 'open' };
  const other = uses === 'new' ? 'present' : 'new';
  const isRefused = uses === 'new' && outcome === 'refused';
  return { trial: { uses: other, failures: 0, isDoubted: isDoubted || isRefused }, verdict: 'open' };
}
