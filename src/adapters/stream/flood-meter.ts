import { fullBucket, type Rate, spend } from '../../core/retry/rate.ts';
import type { Clock } from '../../ports/clock.ts';

/**
 * A service has a few dozen messages a second to send (docs/service.md 10.3), and at once what has waited for minutes on the
 * way. Each costs work: whoever sends more for long would leave none of the machine to anything else.
 */
const MOST_MESSAGES: Rate = { burst: 5000, perMinute: 15_000 };
/** A long message counts as several. */
const BYTES_A_MESSAGE = 16 * 1024;

export const FLOOD = `more than ${MOST_MESSAGES.perMinute / 60} messages a second, and ${MOST_MESSAGES.burst} at once`;

/** Tells whether a service sends more than it can have to say. */
export interface FloodMeter {
  /** Counts a message. @returns whether it is one too many */
  isTooMuch(bytes: number): boolean;
}

export function createFloodMeter(clock: Pick<Clock, 'now'>): FloodMeter {
  let bucket = fullBucket(MOST_MESSAGES, clock.now());
  return {
    isTooMuch(bytes) {
      const spent = spend(bucket, MOST_MESSAGES, clock.now(), 1 + Math.floor(bytes / BYTES_A_MESSAGE));
      bucket = spent.bucket;
      return spent.waitMs > 0;
    },
  };
}
