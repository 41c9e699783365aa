/** The two clocks of a machine and its timers: the only source of time outside the core. */
export interface Clock {
  /** Monotonic milliseconds; only differences mean anything. */
  now(): number;
  /** Wall-clock milliseconds since 1970, or null while the machine's clock is not set. */
  wall(): number | null;
  /** Calls back once, at `at` on the monotonic clock or as soon after as possible. Returns the cancellation. */
  at(at: number, callback: () => void): () => void;
}
