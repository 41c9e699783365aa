/** Denials that come from the backend's own limits. */
import type { Rate } from '../../core/retry/rate.ts';
import type { TokenError } from '../../protocol/mqtt/token.ts';

const BUSY_RETRY_S = 5;

export function tooMany({ perMinute }: Rate, waitMs: number, draw: number): TokenError {
  const title = 'Too many requests';
  const detail = `this device sends more than ${perMinute} requests a minute (limits.perMinute)`;
  const retry_after_s = Math.ceil((waitMs / 1000) * (1 + draw / 2));
  return { code: 'too_many_requests', title, detail, final: false, retry_after_s };
}

/** @param limit the limit that was reached */
export function busy(limit: string, draw: number): TokenError {
  const detail = `too many requests at once for ${limit}`;
  const retry_after_s = Math.ceil(BUSY_RETRY_S * (1 + 2 * draw));
  return { code: 'backend_busy', title: 'Backend busy', detail, final: false, retry_after_s };
}
