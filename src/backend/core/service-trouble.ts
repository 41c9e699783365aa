import type { TokenError } from '../../protocol/mqtt/token.ts';

/** What can go wrong between the backend and the service. */
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
  /** What the service said, without secrets; null when it said nothing that a device's owner should read. */
  readonly detail: string | null;
  /** What the service asked us to wait (`Retry-After`), seconds. */
  readonly retryAfterS: number | null;
}

interface Consequence {
  readonly code: string;
  readonly title: string;
  /** Asked again only at a slow cadence: a person has to fix it. */
  readonly final: boolean;
  /** The device waits at least this long. */
  readonly retryAfterS: number;
  /** It is the account's trouble, not the device's: this long nobody else asks the service either. 0: only this device. */
  readonly pauseS: number;
}

const SLOW_S = 300;

/** What each trouble means for the device that asked and for all others. */
export const CONSEQUENCES: Readonly<Record<TroubleKind, Consequence>> = {
  unreachable: consequence('service_unreachable', 'The translation service cannot be reached', 5),
  timeout: consequence('service_timeout', 'The translation service did not answer in time', 5),
  unavailable: consequence('service_unavailable', 'The translation service is not available', 5),
  malformed: consequence(
    'service_malformed',
    'The translation service gave an answer that is not understood',
    15,
  ),
  rate_limited: {
    ...consequence('service_rate_limited', 'The translation service is asked too often', 5),
    pauseS: 5,
  },
  pending_limit: {
    ...consequence('pending_sessions_limit_reached', 'Too many sessions are created and not used', 15),
    pauseS: 5,
  },
  session_limit: consequence('session_limit_reached', 'Too many streams are running', 30),
  balance: mendable('insufficient_balance', 'The account is out of balance'),
  blocked: mendable('account_blocked', 'The account is blocked'),
  unauthorized: mendable('backend_unauthorized', 'The service does not accept the API key of the backend'),
  misconfigured: mendable('backend_misconfigured', 'The backend cannot ask the service'),
  rejected: { ...mendable('service_rejected', 'The translation service rejects the request'), pauseS: 0 },
};

function consequence(code: string, title: string, retryAfterS: number): Consequence {
  return { code, title, final: false, retryAfterS, pauseS: 0 };
}

function mendable(code: string, title: string): Consequence {
  return { code, title, final: true, retryAfterS: SLOW_S, pauseS: 30 };
}

/** How long all others are kept from asking, milliseconds. A wait that the service asked for counts for everyone. */
export function pauseMs(trouble: Trouble): number {
  return Math.max(CONSEQUENCES[trouble.kind].pauseS, trouble.retryAfterS ?? 0) * 1000;
}

/**
 * The denial that a device gets.
 * @param draw 0 to 1: spreads the next requests of a fleet that was denied at once
 */
export function denialOf(trouble: Trouble, draw: number): TokenError {
  const { code, title, final, retryAfterS } = CONSEQUENCES[trouble.kind];
  const atLeastS = Math.max(retryAfterS, trouble.retryAfterS ?? 0);
  return {
    code,
    title,
    detail: trouble.detail === null ? `${title}.` : `${title}: ${trouble.detail}`,
    final,
    retry_after_s: Math.ceil(atLeastS * (1 + draw / 2)),
  };
}
