import type { Clock } from '../ports/clock.ts';

/** Calls at once where it may, else once at the end of the interval: the last word is never lost. */
export interface Throttle {
  request(): void;
  cancel(): void;
  /** Calls now where it would call later. */
  flush(): void;
}

export function createThrottle(clock: Clock, intervalMs: number, call: () => void): Throttle {
  let lastAt = Number.NEGATIVE_INFINITY;
  let pending: (() => void) | null = null;
  const run = (): void => {
    pending = null;
    lastAt = clock.now();
    call();
  };
  return {
    request() {
      if (pending !== null) return;
      const allowedAt = lastAt + intervalMs;
      if (clock.now() >= allowedAt) run();
      else pending = clock.at(allowedAt, run);
    },
    cancel() {
      pending?.();
      pending = null;
    },
    flush() {
      if (pending === null) return;
      pending();
      run();
    },
  };
}
