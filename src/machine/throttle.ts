import type { Clock } from '../ports/clock.ts';

/** Calls at once if the interval has passed, otherwise once at its end: the last request is never lost. */
export interface Throttle {
  request(): void;
  cancel(): void;
  /** Makes a call that waits now; does nothing if none waits. */
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
