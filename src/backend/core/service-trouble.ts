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
  readonly code: string;
  readonly title: string;
  /** A person has to fix it: the device retries slowly. */
  readonly final: boolean;
  /** Shortest wait of the device. */
  readonly retryAfterS: number;
  /** Time for which no device's request goes to the service, if the whole account is affected. 0: only this device waits. */
  readonly pauseS: number;
}

const SLOW_S = 300;

/** Effects of each trouble on the device that asked and on all others. */
export const CONSEQUENCES: Readonly<Record<TroubleKind, Consequence>> = {
  unreachable: consequence('service_unreachable', 'The translation service cannot be reached', 5),
  timeout: consequence('service_timeout', 'The translation service did not answer in time', 5),
  unavailable: consequence('service_unavailable', 'The translation service is not available', 5),
  malformed: consequence('service_malformed', 'The translation service sent an invalid answer', 15),
  rate_limited: {
    ...consequence('service_rate_limited', 'The translation service received too many requests', 5),
    pauseS: 5,
  },
  pending_limit: {
    ...consequence('pending_sessions_limit_reached', 'Too many sessions are created and not used', 15),
    pauseS: 5,
  },
  session_limit: consequence('session_limit_reached', 'Too many streams are running', 30),
  balance: fixable('insufficient_balance', 'The account has no balance left'),
  blocked: fixable('account_blocked', 'The account is blocked'),
  unauthorized: fixable('backend_unauthorized', 'The service does not accept the API key of the backend'),
  misconfigured: fixable('backend_misconfigured', 'The backend cannot ask the service'),
  rejected: { ...fixable('service_rejected', 'The translation service rejects the request'), pauseS: 0 },
};

function consequence(code: string, title: string, retryAfterS: number): Consequence {
  return { code, title, final: false, retryAfterS, pauseS: 0 };
}

function fixable(code: string, title: string): Consequence {
  return { code, title, final: true, retryAfterS: SLOW_S, pauseS: 30 };
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
