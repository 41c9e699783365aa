/** A source of numbers in [0, 1). Real programs pass an unpredictable one, simulators a seeded one. */
export type Random = () => number;

/** A state of the generator: any 32-bit integer. */
export type Seed = number;

/** Draws a number in [0, 1) and the next state (mulberry32: tiny, seedable, good enough for jitter; never for secrets). */
export function draw(seed: Seed): { value: number; seed: Seed } {
  const next = (seed + 0x6d2b79f5) | 0;
  let mixed = Math.imul(next ^ (next >>> 15), 1 | next);
  mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
  return { value: ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32, seed: next };
}

/** A repeatable source: the same seed gives the same numbers. */
export function seededRandom(seed: Seed): Random {
  let state = seed;
  return () => {
    const drawn = draw(state);
    state = drawn.seed;
    return drawn.value;
  };
}
