/** Timeout of a first start (milliseconds): a card or sound server that takes longer probably hangs. */
const FIRST_MS = 10_000;
const MOST_MS = 40_000;

/**
 * How long a device may take to open. A slower one is stopped and started again with twice the time. With the same time it would
 * fail forever, just before it opens.
 */
export interface StartLimit {
  readonly ms: number;
  /**
   * For a child that does not report when it is open: how long no sound is sent, so that the child is not stopped for not reading
   * it. Zero until the second miss: the first may have been a hang that the restart cured.
   */
  readonly headStartMs: number;
  /** The child was stopped before it was open. */
  missed(): void;
  /** The device is open: the next start has the first limit again. */
  met(): void;
}

export function createStartLimit(): StartLimit {
  let misses = 0;
  const after = (count: number): number => Math.min(MOST_MS, FIRST_MS * 2 ** count);
  return {
    get ms() {
      return after(misses);
    },
    get headStartMs() {
      return misses < 2 ? 0 : after(misses - 2);
    },
    missed() {
      misses++;
    },
    met() {
      misses = 0;
    },
  };
}
