/** Seeds in which the shipped agent breaks no rule (`seeds.long.test.ts`). `.ci/run` draws ten times as many hours beside them. */
export const SEEDS = Array.from({ length: 12 }, (_, index) => 4200 + index);
/** The same with lanes that cancel their echo. */
export const CANCELLING_SEEDS = SEEDS.slice(0, 6);
/** The seeds of both kinds that every `npm test` runs. */
export const QUICK_SEEDS = [4200, 4205];
export const QUICK_CANCELLING_SEEDS = [4200];
export const HOURS = 0.5;
/** Simulated hours of these. */
export const QUICK_HOURS = 0.2;
/** Longest regression seed (hours) that runs with `npm run test:long`; `npm run check` and `.ci/run` run all of them. */
export const REGRESSION_HOURS = 0.5;
