import { fullBucket, type Rate, spend } from '../../core/retry/rate.ts';
import type { Clock } from '../../ports/clock.ts';

/**
 * Limits the messages of a service. It sends a few dozen a second (docs/service.md 10.3), and after a delay of minutes, all of them
 * in one burst. Each message costs work, so an endless flood would block everything else.
 */
const MOST_MESSAGES: Rate = { burst: 5000, perMinute: 15_000 };
/** Bytes that count as one message: a longer message counts as several. */
const BYTES_A_MESSAGE = 16 * 1024;

export const FLOOD = `more than ${MOST_MESSAGES.perMinute / 60} messages a second, and ${MOST_MESSAGES.burst} at once`;

/** Detects a service that sends too much. */
export interface FloodMeter {
  /** Counts a message. @returns whether it exceeds the limit */
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
