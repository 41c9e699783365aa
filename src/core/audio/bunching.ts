/**
 * Tells a device whose periods come in bunches: some sound servers wake their reader only at every second one, so that
 * the end of every other period comes a whole period late.
 */
export interface Bunching {
  /** Notes a delivery; true when periods come in bunches as a rule. */
  note(samples: number, now: number): boolean;
}

/** A busy moment makes a bunch or two, however large; a device of this kind makes them all the time. */
const WINDOW_PERIODS = 24;
const MOST_BUNCHES = 5;

export function createBunching(periodSamples: number, rateHz: number): Bunching {
  const periodMs = (periodSamples * 1000) / rateHz;
  let periods = 0;
  let bunches = 0;
  let lastAt = Number.NEGATIVE_INFINITY;
  return {
    note(samples, now) {
      const count = Math.max(1, Math.round(samples / periodSamples));
      const isClose = now - lastAt < periodMs / 4;
      lastAt = now;
      periods += count;
      if (isClose || count > 1) bunches++;
      if (periods < WINDOW_PERIODS) return false;
      const isRule = bunches > MOST_BUNCHES;
      periods = bunches = 0;
      return isRule;
    },
  };
}
