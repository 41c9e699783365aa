/** Random draws that one seed determines. */
export interface Dice {
  /** A number in [0, 1). */
  next(): number;
  chance(probability: number): boolean;
  /** Evenly between two numbers. */
  between(low: number, high: number): number;
  /** A whole number from `low` to `high`, both included. */
  whole(low: number, high: number): number;
  /** An exponentially distributed wait with this mean. */
  wait(mean: number): number;
  pick<T>(options: readonly [T, ...T[]]): T;
  /** Separate dice for a part of the world, so that the draws of one part do not shift those of another. */
  fork(): Dice;
}

/** @param seed any whole number (sfc32, warmed up) */
export function createDice(seed: number): Dice {
  let a = seed | 0;
  let b = Math.floor(seed / 2 ** 32) | 0;
  let c = 0x9e3779b9;
  let count = 1;
  const draw = (): number => {
    const sum = (a + b + count) | 0;
    count = (count + 1) | 0;
    a = b ^ (b >>> 9);
    b = (c + (c << 3)) | 0;
    c = ((c << 21) | (c >>> 11)) + sum;
    return (sum >>> 0) / 2 ** 32;
  };
  for (let round = 0; round < 15; round++) draw();
  const dice: Dice = {
    next: draw,
    chance: (probability) => draw() < probability,
    between: (low, high) => low + draw() * (high - low),
    whole: (low, high) => low + Math.floor(draw() * (high - low + 1)),
    wait: (mean) => -Math.log(1 - draw()) * mean,
    pick: (options) => options[Math.floor(draw() * options.length)] ?? options[0],
    fork: () => createDice(Math.floor(draw() * 2 ** 32)),
  };
  return dice;
}
