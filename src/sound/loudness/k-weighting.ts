/** Loudness weighting of ITU-R BS.1770: a shelf (for the head) and a high-pass (for the ear's weakness in the bass). */

interface Biquad {
  readonly b: readonly [number, number, number];
  readonly a: readonly [number, number];
}

const SHELF = { hz: 1681.974450955533, gainDb: 3.999843853973347, q: 0.7071752369554196 } as const;
const HIGH_PASS = { hz: 38.13547087602444, q: 0.5003270373238773 } as const;
/** With this offset (dB), a full-scale sine of 997 Hz measures -3.01 LUFS. */
const OFFSET_DB = -0.691;

function shelf(rateHz: number): Biquad {
  const k = Math.tan((Math.PI * SHELF.hz) / rateHz);
  const high = 10 ** (SHELF.gainDb / 20);
  const middle = high ** 0.4996667741545416;
  const norm = 1 + k / SHELF.q + k * k;
  return {
    b: [
      (high + (middle * k) / SHELF.q + k * k) / norm,
      (2 * (k * k - high)) / norm,
      (high - (middle * k) / SHELF.q + k * k) / norm,
    ],
    a: [(2 * (k * k - 1)) / norm, (1 - k / SHELF.q + k * k) / norm],
  };
}

function highPass(rateHz: number): Biquad {
  const k = Math.tan((Math.PI * HIGH_PASS.hz) / rateHz);
  const norm = 1 + k / HIGH_PASS.q + k * k;
  return { b: [1, -2, 1], a: [(2 * (k * k - 1)) / norm, (1 - k / HIGH_PASS.q + k * k) / norm] };
}

/** Sums the squares of the weighted samples (-1 to 1) between two indexes; keeps its filter state between calls. */
export type WeightedSquares = (samples: Int16Array, from: number, until: number) => number;

export function createWeightedSquares(rateHz: number): WeightedSquares {
  const first = shelf(rateHz);
  const second = highPass(rateHz);
  const [f0, f1, f2] = first.b;
  const [fa1, fa2] = first.a;
  const [sa1, sa2] = second.a;
  /** Filter state: two values for each filter. */
  const memory = new Float64Array(4);
  return (samples, from, until) => {
    // Local for speed: each change of a number captured by a closure allocates an object.
    let p1 = memory[0] as number;
    let p2 = memory[1] as number;
    let q1 = memory[2] as number;
    let q2 = memory[3] as number;
    let sum = 0;
    for (let at = from; at < until; at++) {
      const x = (samples[at] as number) / 32_768;
      // Transposed direct form.
      const y = f0 * x + p1;
      p1 = f1 * x - fa1 * y + p2;
      p2 = f2 * x - fa2 * y;
      const z = y + q1;
      q1 = -2 * y - sa1 * z + q2;
      q2 = y - sa2 * z;
      sum += z * z;
    }
    // Denormal numbers in the tails of silence are slow on some processors.
    if (Math.abs(p1) < 1e-20) p1 = p2 = 0;
    if (Math.abs(q1) < 1e-20) q1 = q2 = 0;
    memory[0] = p1;
    memory[1] = p2;
    memory[2] = q1;
    memory[3] = q2;
    return sum;
  };
}

/** Loudness (LUFS) of sound with this mean of weighted squares. */
export function loudnessOf(meanSquare: number): number {
  return OFFSET_DB + 10 * Math.log10(Math.max(meanSquare, 1e-12));
}

/** The inverse of `loudnessOf`: the mean square (K-weighted) that has this loudness. */
export function powerOf(lufs: number): number {
  return 10 ** ((lufs - OFFSET_DB) / 10);
}
