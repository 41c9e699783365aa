/**
 * Detects a device whose periods arrive in bunches. Some sound servers wake their reader only at every second period; the
 * end of every other period then arrives a whole period late.
 */
export interface BatchedDelivery {
  /** Notes a delivery. @returns true when periods usually arrive in bunches */
  note(samples: number, now: number): boolean;
}

/** Periods per verdict: a busy moment causes one or two bunches, such a device causes them all the time. */
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
