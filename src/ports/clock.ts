import type { MonotonicMs, WallMs } from '../protocol/common/time.ts';

/** The machine's two clocks and its timers: the only source of time outside the core. */
export interface Clock {
  /** Monotonic milliseconds; only differences are meaningful. */
  now(): MonotonicMs;
  /** Wall-clock milliseconds since 1970, or null while the machine's clock is not set. */
  wall(): WallMs | null;
  /**
   * Calls back once, at `at` on the monotonic clock or as soon after as possible. Returns a function that cancels it.
   * @param slackMs allowed delay (default: 0), to share a wake-up with others: waking up is expensive
   */
  at(at: MonotonicMs, callback: () => void, slackMs?: number): () => void;
}
