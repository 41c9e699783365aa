/**
 * Tells a device whose periods come in bunches: some sound servers wake their reader only at every second one, so that
 * the end of every other period comes a whole period late.
 */
export interface BatchedDelivery {
  /** Notes a delivery; true when periods come in bunches as a rule. */
  note(samples: number, now: number): boolean;
}

/** A busy moment makes a bunch or two, however large; a device of this kind makes them all the time. */
const WINDOW_PERIODS = 24;
const MOST_BATCHES = 5;

export function createBatchedDelivery(periodSamples: number, rateHz: number): BatchedDelivery {
  const periodMs = (periodSamples * 1000) / rateHz;
  let periods = 0;
  let batches = 0;
  let lastAt = Number.NEGATIVE_INFINITY;
  return {
    note(samples, now) {
      const count = Math.max(1, Math.round(samples / periodSamples));
      const isClose = now - lastAt < periodMs / 4;
      lastAt = now;
      periods += count;
      if (isClose || count > 1) batches++;
      if (periods < WINDOW_PERIODS) return false;
      const isRule = batches > MOST_BATCHES;
      periods = batches = 0;
      return isRule;
    },
  };
}
