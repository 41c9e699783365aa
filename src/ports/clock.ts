/** The two clocks of a machine and its timers: the only source of time outside the core. */
export interface Clock {
  /** Monotonic milliseconds; only differences mean anything. */
  now(): number;
  /** Wall-clock milliseconds since 1970, or null while the machine's clock is not set. */
  wall(): number | null;
  /**
   * Calls back once, at `at` on the monotonic clock or as soon after as possible. Returns the cancellation.
   * @param slackMs it may be this much later, together with others: waking up is dear (left out: 0)
   */
  at(at: number, callback: () => void, slackMs?: number): () => void;
}
