/** Reads a sound at places between its samples, and at another rate. */
export interface Interpolator {
  /** Samples that must be there before and behind each place. */
  readonly reach: number;
  /**
   * @param source whose first sample lies at place `first`
   * @param step from one place to the next
   */
  read(source: Float32Array, first: number, from: number, step: number, target: Float32Array): void;
}

/** Sines on each side of a place; more would keep more of the highest tones. */
const LOBES = 12;
/** Places between two samples that are told apart. */
const PHASES = 512;

/** @param step about how far apart the places will be, in samples: above 1, what the wider grid cannot hold is left out */
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
        const row = Math.round((place - whole) * PHASES) * taps;
        const base = whole - reach + 1 - first;
        let sum = 0;
        for (let tap = 0; tap < taps; tap++) sum += (source[base + tap] ?? 0) * (table[row + tap] as number);
        target[index] = sum;
      }
    },
  };
}

/** A sine over its argument, faded out to both sides. */
function tapAt(distance: number, cutoff: number, reach: number): number {
  if (Math.abs(distance) >= reach) return 0;
  const angle = Math.PI * distance * cutoff;
  const sine = distance === 0 ? 1 : Math.sin(angle) / angle;
  return sine * (0.5 + 0.5 * Math.cos((Math.PI * distance) / reach));
}
