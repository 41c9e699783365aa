/** When the device's own certificate is renewed, what a new one must be, and which one the next connection uses. */

const DAY_MS = 86_400_000;
/** From here on the owner is told that it ends. */
export const WARN_BEFORE_MS = 14 * DAY_MS;
/** Of the life of a certificate: it is renewed when two thirds of it are over, a fleet not all at once. */
const RENEW_AFTER = 2 / 3;
const SPREAD = 1 / 20;
/** Clocks differ: a certificate that begins within this time counts as begun. */
const CLOCKS_APART_MS = 600_000;

/** Wall-clock milliseconds. */
export interface CertificateLife {
  readonly validFrom: number;
  readonly validTo: number;
}

/** From when on a successor is asked for. @param draw from 0 to 1, of this device */
export function renewalAt({ validFrom, validTo }: CertificateLife, draw: number): number {
  return validFrom + (validTo - validFrom) * (RENEW_AFTER + draw * SPREAD);
}

/** What was found out of a certificate that came as an answer. */
export interface OfferedFacts extends CertificateLife {
  readonly subject: string;
  /** It belongs to the key of the request. */
  readonly isForKey: boolean;
  /** It may certify others. */
  readonly isAuthority: boolean;
  /** It is good for clients. */
  readonly isForClients: boolean;
  /** Its chain ends at one of the device's authorities, all of them valid now. */
  readonly isTrusted: boolean;
}

/** What is wrong with a certificate that came as an answer; goes on after "the certificate ". Null: nothing. */
export function faultOf(
  offered: OfferedFacts,
  present: { readonly subject: string },
  wall: number,
): string | null {
  if (!offered.isForKey) return "is for another key than the request's";
  if (offered.subject !== present.subject)
    return `is for "${oneLine(offered.subject)}", not for "${oneLine(present.subject)}"`;
  if (offered.isAuthority) return 'is one of an authority, not of a device';
  if (!offered.isForClients) return 'is not good for clients (extendedKeyUsage clientAuth)';
  if (!offered.isTrusted) return 'was not issued by an authority of mqtt.caFile that is valid now';
  if (!(offered.validTo > wall)) return `has ended on ${day(offered.validTo)}, by this device's clock`;
  if (!(offered.validFrom <= wall + CLOCKS_APART_MS))
    return `begins only on ${day(offered.validFrom)}, by this device's clock`;
  return offered.validTo - wall >= DAY_MS ? null : `ends on ${day(offered.validTo)}, within a day`;
}

/** A subject has a line for each of its parts. */
function oneLine(subject: string): string {
  return subject.replaceAll(/\s+/g, ' ').slice(0, 200);
}

/** A day, as people write it. */
export function day(wallMs: number): string {
  return Number.isFinite(wallMs) && Math.abs(wallMs) <= 8.64e15
    ? new Date(wallMs).toISOString().slice(0, 10)
    : 'an unknown day';
}

/** Connections in a row that may fail for another reason before the other certificate has its turn. */
const FAILURES_TO_CHANGE = 3;

/** A new certificate on trial beside the proven one. Whichever the broker takes is the one. */
export interface CertificateTrial {
  /** What the next connection uses. */
  readonly uses: 'present' | 'new';
  /** Connections in a row that failed with it. */
  readonly failures: number;
  /** The broker has turned the new one down, or seems to. */
  readonly isDoubted: boolean;
}

export const NEW_TRIAL: CertificateTrial = { uses: 'new', failures: 0, isDoubted: false };

/** How a connection ended, or that it came about with all its subscriptions. */
export type ConnectionOutcome = 'up' | 'refused' | 'failed';

/**
 * What a connection says of the certificate that it used. `adopt`: the new one holds. `drop`: the present one is taken,
 * and the new one was not.
 */
export function noteConnection(
  trial: CertificateTrial,
  outcome: ConnectionOutcome,
): { readonly trial: CertificateTrial; readonly verdict: 'open' | 'adopt' | 'drop' } {
  const { uses, isDoubted } = trial;
  if (outcome === 'up') {
    if (uses === 'new') return { trial, verdict: 'adopt' };
    return { trial, verdict: isDoubted ? 'drop' : 'open' };
  }
  const failures = trial.failures + 1;
  if (outcome === 'failed' && failures < FAILURES_TO_CHANGE)
    return { trial: { ...trial, failures }, verdict: 'open' };
  const other = uses === 'new' ? 'present' : 'new';
  return { trial: { uses: other, failures: 0, isDoubted: isDoubted || uses === 'new' }, verdict: 'open' };
}
