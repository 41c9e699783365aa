/** Worlds that an agent as it is leaves whole: `seeds.long.test.ts` holds it. `.ci/run` draws ten times as many hours beside them. */
export const SEEDS = Array.from({ length: 12 }, (_, index) => 4200 + index);
/** The same with a lane that cancels its echo. */
export const CANCELLING_SEEDS = SEEDS.slice(0, 6);
/** Those of both that every `npm test` runs. */
export const QUICK_SEEDS = [4200, 4202, 4205];
export const QUICK_CANCELLING_SEEDS = [4200, 4205];
export const HOURS = 0.5;
/** As long as they run there. */
export const QUICK_HOURS = 0.25;
/** Regression seeds that need no longer than this run with every `npm test`. */
export const QUICK_REGRESSION_HOURS = 0.3;
/** Those that need no longer than this run with `npm run test:long`; `npm run check` and `.ci/run` run them all, once. */
export const REGRESSION_HOURS = 0.5;
