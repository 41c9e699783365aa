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
  const frame = new Float32Array(FRAME_SAMPLES);
  const step = rateHz / BAND_HZ;
  const share = 1 - Math.exp((-2 * Math.PI * RUMBLE_HZ) / BAND_HZ);
  let filled = 0;
  /** `missing`: input samples missing for the next output sample. */
  const begun = { sum: 0, summed: 0, missing: step, slow: 0, slower: 0 };
  return {
    push(samples, take) {
      // Local for speed: each change of a number captured by a closure allocates an object.
      let { sum, summed, missing, slow, slower } = begun;
      for (let index = 0; index < samples.length; index++) {
        sum += samples[index] as number;
        summed++;
        missing--;
        // Averages the covered samples: a crude low pass, good enough for a decision.
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
      Object.assign(begun, { sum, summed, missing, slow, slower });
    },
  };
}
