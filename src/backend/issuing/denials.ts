/** Denials that come from the backend's own limits. */
import { fullBucket, type Rate, spend } from '../../core/retry/rate.ts';
import { denial } from '../../protocol/mqtt/denials.ts';
import type { TokenError } from '../../protocol/mqtt/token.ts';
import { isKnown, type Rank } from './job-queue.ts';

const BUSY_RETRY_S = 5;
/** Limit on answers without a session to all devices that never had one, because clients can invent names. */
const UNKNOWN_ANSWERS: Rate = { burst: 50, perMinute: 600 };

export function tooMany({ perMinute }: Rate, waitMs: number, draw: number): TokenError {
  const detail = `this device sends more than ${perMinute} requests a minute (limits.perMinute)`;
  return denial('too_many_requests', detail, Math.ceil((waitMs / 1000) * (1 + draw / 2)));
}

/** @param limit the limit that was reached */
export function busy(limit: string, draw: number): TokenError {
  const detail = `too many requests at once for ${limit}`;
  return denial('backend_busy', detail, busyRetryS(draw));
}

/** The denial while the store cannot be used: without it, two backends could each make a session for one lane. */
export function withoutStore(draw: number): TokenError {
  const detail = "the backend's store cannot be used now; its log says why";
  return denial('store_unavailable', detail, busyRetryS(draw));
}

const busyRetryS = (draw: number): number => Math.ceil(BUSY_RETRY_S * (1 + 2 * draw));

/** Counts one answer to an unknown device; true if there were too many and this one is not sent. */
export function countUnknownDevices(): (rank: Rank, now: number) => boolean {
  let bucket = fullBucket(UNKNOWN_ANSWERS, 0);
  return (rank, now) => {
    if (isKnown(rank)) return false;
    const spent = spend(bucket, UNKNOWN_ANSWERS, now);
    bucket = spent.bucket;
    return spent.waitMs > 0;
  };
}
