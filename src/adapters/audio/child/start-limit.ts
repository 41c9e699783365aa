/** Of a first try: a card that has not opened by then, or a program that has not found its sound server, hangs for all we know. */
const FIRST_MS = 10_000;
const MOST_MS = 40_000;

/**
 * How long a device may take to open. One that is slower is ended and started again, and has twice as long then: else it
 * would be ended in the same way forever, just before it is open.
 */
export interface StartLimit {
  readonly ms: number;
  /**
   * Where nobody tells when it is open: so long it is given no sound, which it would be ended for not taking. None after a
   * first miss, because that may have been a hang which the new start has healed.
   */
  readonly headStartMs: number;
  /** It was ended before it was open. */
  missed(): void;
  /** It is open: from here on the next one has no longer than any first. */
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
