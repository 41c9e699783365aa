/** Worlds that an agent as it is leaves whole: `seeds.test.ts` holds it. `.ci/run` draws ten times as many hours beside them. */
export const SEEDS = Array.from({ length: 12 }, (_, index) => 4200 + index);
/** The same with a lane that cancels its echo. */
export const CANCELLING_SEEDS = SEEDS.slice(0, 6);
export const HOURS = 0.5;
/** Regression seeds that need no longer than this run with every test; `npm run check` and `.ci/run` run them all, once. */
export const REGRESSION_HOURS = 0.2;
