import type { CreateVoiceDetector } from '../ports/voice.ts';

const FRAME_MS = 20;
/** Minimum energy of speech relative to the room's noise (8 dB). */
const OVER_NOISE = 6.3;
/** Rise of the noise floor per louder frame: 0.9 dB a second. */
const FLOOR_RISE = 1.004;
/** Distance of measured samples: every fourth one is enough. */
const STRIDE = 4;
/** Minimum energy of speech: 54 dB below full scale. */
const FAINTEST = (32_768 * 0.002) ** 2;

/**
 * Decides by energy over a tracked noise floor, which falls fast and rises slowly. A fallback where no better detector is
 * available.
 */
export const createEnergyDetector: CreateVoiceDetector = (rateHz) => {
  const frameSamples = Math.round((rateHz * FRAME_MS) / 1000);
  let floor = FAINTEST;
  let sum = 0;
  let looked = 0;
  let filled = 0;
  const decide = (): boolean => {
    const energy = sum / Math.max(1, looked);
    const voiced = energy > FAINTEST && energy > floor * OVER_NOISE;
    floor = energy < floor ? floor * 0.7 + energy * 0.3 : Math.min(energy, floor * FLOOR_RISE);
    floor = Math.max(floor, 1);
    return voiced;
  };
  return {
    hear(pcm, report) {
      for (let at = 0; at < pcm.length; ) {
        const end = Math.min(pcm.length, at + frameSamples - filled);
        sum += energyOf(pcm, at, end);
        looked += Math.ceil((end - at) / STRIDE);
        filled += end - at;
        at = end;
        if (filled < frameSamples) return;
        report(decide(), filled);
        sum = 0;
        looked = 0;
        filled = 0;
      }
    },
    close() {},
  };
};

/** Outside the detector for speed: assigning a fractional number to a captured variable allocates. */
function energyOf(pcm: Int16Array, from: number, until: number): number {
  let squares = 0;
  for (let index = from; index < until; index += STRIDE) {
    const sample = pcm[index] ?? 0;
    squares += sample * sample;
  }
  return squares;
}
