/** When to renew the device's certificate, and which one the next connection uses. */
import type { CertificateLife } from '../../core/offered-certificate.ts';

const DAY_MS = 86_400_000;
/** Remaining validity from which the owner is warned (ms). */
export const WARN_BEFORE_MS = 14 * DAY_MS;
/** Share of a certificate's life until its renewal; `SPREAD`: a random addition that spreads a fleet. */
const RENEW_AFTER = 2 / 3;
const SPREAD = 1 / 20;

/** When to request a successor. @param draw from 0 to 1, fixed per device */
export function renewalAt({ validFrom, validTo }: CertificateLife, draw: number): number {
  return validFrom + (validTo - validFrom) * (RENEW_AFTER + draw * SPREAD);
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
