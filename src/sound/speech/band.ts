import { createDecimator } from '../decimator.ts';

/** Format of the sound for all speech measures, whatever the microphone's rate: 8 kHz, in frames of 20 ms. */
export const BAND_HZ = 8000;
export const FRAME_MS = 20;
export const FRAME_SAMPLES = (BAND_HZ * FRAME_MS) / 1000;
/** Upper edge of rumble (Hz): doors, steps and wind have most of their power below it, voices none. */
const RUMBLE_HZ = 90;

/** Converts sound to 8 kHz and removes rumble, frame by frame. */
export interface Band {
  /** @param take receives each complete frame (full scale is 1), which is valid only during the call */
  push(samples: Int16Array, take: (frame: Float32Array) => void): void;
}

/** @param rateHz of the pushed sound, 8 kHz or more */
export function createBand(rateHz: number): Band {
  const decimate = createDecimator(rateHz, BAND_HZ);
  const frame = new Float32Array(FRAME_SAMPLES);
  const share = 1 - Math.exp((-2 * Math.PI * RUMBLE_HZ) / BAND_HZ);
  let filled = 0;
  const begun = { slow: 0, slower: 0 };
  return {
    push(samples, take) {
      // Local for speed: each change of a number captured by a closure allocates an object.
      let { slow, slower } = begun;
      const thin = decimate(samples);
      for (let index = 0; index < thin.length; index++) {
        const value = thin[index] as number;
        slow += share * (value - slow);
        const high = value - slow;
        slower += share * (high - slower);
        frame[filled++] = high - slower;
        if (filled < FRAME_SAMPLES) continue;
        filled = 0;
        take(frame);
      }
      begun.slow = slow;
      begun.slower = slower;
    },
  };
}
