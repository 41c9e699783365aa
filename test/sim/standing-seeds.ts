/** Worlds that an agent as it is leaves whole: `seeds.test.ts` holds it. */
export const SEEDS = Array.from({ length: 24 }, (_, index) => 4200 + index);
/** The same with a lane that cancels its echo. */
export const CANCELLING_SEEDS = SEEDS.slice(0, 10);
export const HOURS = 0.5;
