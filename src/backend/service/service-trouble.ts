import { DENIALS, type DenialCode, denial } from '../../protocol/mqtt/denials.ts';
import type { TokenError } from '../../protocol/mqtt/token.ts';
import type { ServiceError } from '../../protocol/service/error.ts';

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
/** Error code of a live service; the specification gives no number. */
const INSUFFICIENT_BALANCE = 100_050;

/** Kinds of trouble between the backend and the service, with their effects on the device that asked and on all others. */
export const CONSEQUENCES = {
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
} as const satisfies Readonly<Record<string, Consequence>>;
export type TroubleKind = keyof typeof CONSEQUENCES;

export interface Trouble {
  readonly kind: TroubleKind;
  /** The service's message without secrets; null if it has none that a device's owner should read. */
  readonly detail: string | null;
  /** Wait that the service asks for (`Retry-After`, s). */
  readonly retryAfterS: number | null;
}

function fixable(code: DenialCode): Consequence {
  return { code, retryAfterS: FIXABLE_RETRY_S, pauseS: FIXABLE_PAUSE_S };
}

/**
 * The kind of an answer with an error status: decided by the reason, whichever field contains it, otherwise by the status
 * (docs/service.md 7).
 */
export function troubleKindOf(status: number, errors: readonly ServiceError[]): TroubleKind {
  const words = errors.map(({ type, title, detail }) => `${type} ${title} ${detail}`.toLowerCase()).join(' ');
  if (/pending[_ ]sessions[_ ]limit/.test(words)) return 'pending_limit';
  if (/(^|[^_a-z])session[_ ]limit/.test(words)) return 'session_limit';
  const outOfBalance = errors.some((error) => error.error_code === INSUFFICIENT_BALANCE);
  if (outOfBalance || /\bbalance\b|insufficient_balance/.test(words) || status === 402) return 'balance';
  if (status === 403 && /\bblocked\b|account_blocked/.test(words)) return 'blocked';
  if (status === 401 || status === 403) return 'unauthorized';
  if (status === 408) return 'timeout';
  if (status === 429) return 'rate_limited';
  if (status >= 500) return 'unavailable';
  return 'rejected';
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
    if (until > (this.last?.until ?? now)) this.last = { until, trouble };
  }

  /** The trouble, with the rest of the pause as `retryAfterS`; null outside a pause. */
  at(now: number): Trouble | null {
    if (this.last === null || now >= this.last.until) return null;
    return { ...this.last.trouble, retryAfterS: (this.last.until - now) / 1000 };
  }
}
