import { DENIALS, type DenialCode, denial } from '../../protocol/mqtt/denials.ts';
import type { TokenError } from '../../protocol/mqtt/token.ts';

/** Kinds of trouble between the backend and the service. */
export type TroubleKind =
  | 'unreachable'
  | 'timeout'
  | 'unavailable'
  | 'rate_limited'
  | 'pending_limit'
  | 'session_limit'
  | 'balance'
  | 'blocked'
  | 'unauthorized'
  | 'rejected'
  | 'malformed'
  | 'misconfigured';

export interface Trouble {
  readonly kind: TroubleKind;
  /** The service's message without secrets; null if it has none that a device's owner should read. */
  readonly detail: string | null;
  /** Wait that the service asks for (`Retry-After`, s). */
  readonly retryAfterS: number | null;
}

interface Consequence {
  readonly code: DenialCode;
  /** Shortest wait of the device. */
  readonly retryAfterS: number;
  /** Time for which no device's request goes to the service, if the whole account is affected. 0: only this device waits. */
  readonly pauseS: number;
}

/** Retry time after a denial that only a person can end (s). */
const FIXABLE_RETRY_S = 300;
const FIXABLE_PAUSE_S = 30;

/** Effects of each trouble on the device that asked and on all others. */
export const CONSEQUENCES: Readonly<Record<TroubleKind, Consequence>> = {
  unreachable: { code: 'service_unreachable', retryAfterS: 5, pauseS: 0 },
  timeout: { code: 'service_timeout', retryAfterS: 5, pauseS: 0 },
  unavailable: { code: 'service_unavailable', retryAfterS: 5, pauseS: 0 },
  malformed: { code: 'service_malformed', retryAfterS: 15, pauseS: 0 },
  rate_limited: { code: 'service_rate_limited', retryAfterS: 5, pauseS: 5 },
  pending_limit: { code: 'pending_sessions_limit_reached', retryAfterS: 15, pauseS: 5 },
  session_limit: { code: 'session_limit_reached', retryAfterS: 30, pauseS: 0 },
  balance: fixable('insufficient_balance'),
  blocked: fixable('account_blocked'),
  unauthorized: fixable('backend_unauthorized'),
  misconfigured: fixable('backend_misconfigured'),
  rejected: { code: 'service_rejected', retryAfterS: FIXABLE_RETRY_S, pauseS: 0 },
};

function fixable(code: DenialCode): Consequence {
  return { code, retryAfterS: FIXABLE_RETRY_S, pauseS: FIXABLE_PAUSE_S };
}

/** Time for which all other devices wait (ms). A wait that the service asks for applies to all. */
export function pauseMs(trouble: Trouble): number {
  return Math.max(CONSEQUENCES[trouble.kind].pauseS, trouble.retryAfterS ?? 0) * 1000;
}

/**
 * The denial that a device gets.
 * @param draw 0 to 1: spreads the retries of a fleet that was denied at once
 */
export function denialOf(trouble: Trouble, draw: number): TokenError {
  const { code, retryAfterS } = CONSEQUENCES[trouble.kind];
  const { title } = DENIALS[code];
  const atLeastS = Math.max(retryAfterS, trouble.retryAfterS ?? 0);
  const detail = trouble.detail === null ? `${title}.` : `${title}: ${trouble.detail}`;
  return denial(code, detail, Math.ceil(atLeastS * (1 + draw / 2)));
}

/** The time in which no device's request goes to the service, because the whole account is in trouble. */
export class ServicePause {
  private last: { readonly until: number; readonly trouble: Trouble } | null = null;

  /** Of two pauses the one that ends later counts. */
  note(trouble: Trouble, now: number): void {
    const until = now + pauseMs(trouble);
    if (until > now && until > (this.last?.until ?? 0)) this.last = { until, trouble };
  }

  /** The trouble, with the rest of the pause as `retryAfterS`; null outside a pause. */
  at(now: number): Trouble | null {
    if (this.last === null || now >= this.last.until) return null;
    return { ...this.last.trouble, retryAfterS: (this.last.until - now) / 1000 };
  }
}
