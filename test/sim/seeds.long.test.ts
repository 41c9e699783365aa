import { describe, expect, it } from 'vitest';
import { runSeed } from './run-seed.ts';
import { CANCELLING_SEEDS, HOURS, REGRESSION_HOURS, SEEDS } from './standing-seeds.ts';
import { run, testCancellingSeeds, testRegressions, testSeeds } from './standing-worlds.ts';

describe('the simulated world', () => {
  testSeeds(SEEDS);
  testCancellingSeeds(CANCELLING_SEEDS);
  testRegressions(REGRESSION_HOURS);

  it('is the same for the same seed, and another for another one', async () => {
    const [first, again, other] = [await run(4200), await runSeed(4200, HOURS), await run(4201)];
    expect(again).toEqual(first);
    expect(other?.trace).not.toBe(first?.trace);
  });
});
