import { roundSample } from '../pcm.ts';

/** Reads a sound at positions between its samples, and at another rate. */
export interface Interpolator {
  /** Samples needed before and after each position. */
  readonly reach: number;
  /**
   * @param source its first sample is at position `first`
   * @param step from one position to the next
   */
  read(source: Float32Array, first: number, from: number, step: number, target: Float32Array): void;
}

/** Number of lobes of the sinc on each side; more would keep more of the highest tones. */
const LOBES = 12;
/** Number of distinct positions between two samples. */
const PHASES = 512;

/** @param step approximate distance of positions, in samples; above 1, tones too high for the output rate are removed */
export function createInterpolator(step: number): Interpolator {
  const cutoff = Math.min(1, 1 / step);
  const reach = Math.ceil(LOBES / cutoff);
  const taps = 2 * reach;
  const table = new Float32Array(taps * (PHASES + 1));
  for (let phase = 0; phase <= PHASES; phase++) {
    let sum = 0;
    for (let tap = 0; tap < taps; tap++) {
      const value = tapAt(tap - reach + 1 - phase / PHASES, cutoff, reach);
      table[phase * taps + tap] = value;
      sum += value;
    }
    for (let tap = 0; tap < taps; tap++)
      table[phase * taps + tap] = (table[phase * taps + tap] as number) / sum;
  }
  return {
    reach,
    read(source, first, from, by, target) {
      for (let index = 0; index < target.length; index++) {
        const place = from + index * by;
        const whole = Math.floor(place);
        const row = roundSample((place - whole) * PHASES) * taps;
        const base = whole - reach + 1 - first;
        let sum = 0;
        for (let tap = 0; tap < taps; tap++) sum += (source[base + tap] ?? 0) * (table[row + tap] as number);
        target[index] = sum;
      }
    },
  };
}

/** A windowed sinc. */
function tapAt(distance: number, cutoff: number, reach: number): number {
  if (Math.abs(distance) >= reach) return 0;
  const angle = Math.PI * distance * cutoff;
  const sine = distance === 0 ? 1 : Math.sin(angle) / angle;
  return sine * (0.5 + 0.5 * Math.cos((Math.PI * distance) / reach));
}
