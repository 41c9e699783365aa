/**
 * Detects a device whose periods arrive in bunches. Some sound servers wake their reader only at every second period; the
 * end of every other period then arrives a whole period late.
 */
export interface BatchedDelivery {
  /** Notes a delivery. @returns true when nearly all periods arrive in bunches, at regular times */
  note(samples: number, now: number): boolean;
}

/** Periods per verdict: half a minute, because a busy start of the machine delays all periods for some seconds. */
const WINDOW_PERIODS = 96;
/** Maximum number of exceptions (single periods, late bunches): a busy machine has many, a device that delivers in bunches few. */
const MOST_OTHERS = 4;

export function createBatchedDelivery(periodSamples: number, rateHz: number): BatchedDelivery {
  const periodMs = (periodSamples * 1000) / rateHz;
  /** The last bunch, which may come in pieces: its start, the time since the previous bunch, and its number of periods. */
  let bunch = { at: Number.NEGATIVE_INFINITY, afterMs: 0, periods: 0 };
  let periods = 0;
  let others = 0;
  return {
    note(samples, now) {
      const count = Math.max(1, Math.round(samples / periodSamples));
      if (now - bunch.at < periodMs / 4) {
        bunch.periods += count;
        return false;
      }
      const lateMs = Math.abs(bunch.afterMs - bunch.periods * periodMs);
      if (bunch.periods === 1 || lateMs > periodMs / 4) others++;
      periods += bunch.periods;
      bunch = { at: now, afterMs: now - bunch.at, periods: count };
      if (periods < WINDOW_PERIODS) return false;
      const isRule = others <= MOST_OTHERS;
      periods = others = 0;
      return isRule;
    },
  };
}
