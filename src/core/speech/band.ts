/** The sound that all measures of speech are taken from, whatever the microphone's rate: 8 kHz, in frames of 20 ms. */
export const BAND_HZ = 8000;
export const FRAME_MS = 20;
export const FRAME_SAMPLES = (BAND_HZ * FRAME_MS) / 1000;
/** What lies below is rumble: doors, steps and wind have most of their power there, people none. */
const RUMBLE_HZ = 90;

/** Brings sound down to 8 kHz and takes the rumble out, frame by frame. */
export interface Band {
  /** @param take is handed each frame that is full, full scale 1; it must not keep it */
  push(samples: Int16Array, take: (frame: Float32Array) => void): void;
}

/** @param rateHz of what is pushed, 8 kHz or more */
export function createBand(rateHz: number): Band {
  const frame = new Float32Array(FRAME_SAMPLES);
  const step = rateHz / BAND_HZ;
  const share = 1 - Math.exp((-2 * Math.PI * RUMBLE_HZ) / BAND_HZ);
  let filled = 0;
  let sum = 0;
  let summed = 0;
  /** Input samples that are still to come before the next sample of the band is complete. */
  let missing = step;
  let slow = 0;
  let slower = 0;
  return {
    push(samples, take) {
      for (let index = 0; index < samples.length; index++) {
        sum += samples[index] as number;
        summed++;
        missing--;
        // The mean of the samples that one covers: a crude low pass, enough for a decision.
        if (missing > 0.5) continue;
        missing += step;
        const value = sum / (summed * 32_768);
        sum = 0;
        summed = 0;
        slow += share * (value - slow);
        const high = value - slow;
        slower += share * (high - slower);
        frame[filled++] = high - slower;
        if (filled < FRAME_SAMPLES) continue;
        filled = 0;
        take(frame);
      }
    },
  };
}
