import type { MonotonicMs, WallMs } from '../protocol/time.ts';

/** The two clocks of a machine and its timers: the only source of time outside the core. */
export interface Clock {
  /** Monotonic milliseconds; only differences mean anything. */
  now(): MonotonicMs;
  /** Wall-clock milliseconds since 1970, or null while the machine's clock is not set. */
  wall(): WallMs | null;
  /**
   * Calls back once, at `at` on the monotonic clock or as soon after as possible. Returns the cancellation.
   * @param slackMs it may be this much later, together with others: waking up is expensive (left out: 0)
   */
  at(at: MonotonicMs, callback: () => void, slackMs?: number): () => void;
}
