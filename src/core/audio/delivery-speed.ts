/**
 * Tells a device that delivers faster than real time, which is a broken one (a pulled card can give the same sound over
 * and over). A burst after a busy moment is none: only a second window in a row counts, or more than any buffer holds.
 */
export interface DeliverySpeed {
  /** Notes a delivery; true when the device is broken. */
  note(samples: number, now: number): boolean;
}

const FASTEST = 1.1;
const WINDOW_MS = 2000;
const WINDOWS_IN_A_ROW = 2;
/** More sound than the buffers of a device and of the pipe behind it hold. */
const MOST_BUFFERED_S = 10;

export function createDeliverySpeed(rateHz: number): DeliverySpeed {
  let since: number | null = null;
  let samples = 0;
  let fastWindows = 0;
  return {
    note(delivered, now) {
      // Of the first delivery nobody knows how long it took.
      if (since === null) {
        since = now;
        return delivered > MOST_BUFFERED_S * rateHz;
      }
      samples += delivered;
      const elapsed = now - since;
      if (samples > (elapsed / 1000 + MOST_BUFFERED_S) * rateHz) return true;
      if (elapsed < WINDOW_MS) return false;
      const isFast = samples > (FASTEST * rateHz * elapsed) / 1000;
      fastWindows = isFast ? fastWindows + 1 : 0;
      since = now;
      samples = 0;
      return fastWindows >= WINDOWS_IN_A_ROW;
    },
  };
}
