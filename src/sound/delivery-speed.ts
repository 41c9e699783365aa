/**
 * Detects a broken device that delivers faster than real time (a pulled card can repeat the same sound). A burst after a
 * busy moment does not count: it takes two fast windows in a row, or more sound than any buffer holds.
 */
export interface DeliverySpeed {
  /** Notes a delivery. @returns true if the device is broken */
  note(samples: number, now: number): boolean;
}

const FASTEST = 1.1;
const WINDOW_MS = 2000;
const WINDOWS_IN_A_ROW = 2;
/** Amount of sound (seconds) that exceeds the buffers of a device and of its pipe. */
const MOST_BUFFERED_S = 10;

export function createDeliverySpeed(rateHz: number): DeliverySpeed {
  let since: number | null = null;
  let samples = 0;
  let fastWindows = 0;
  return {
    note(delivered, now) {
      // How long the first delivery took is unknown.
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
