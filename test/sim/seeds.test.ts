import { describe, expect, it } from 'vitest';
import { runSeed } from './run-seed.ts';
import { QUICK_CANCELLING_SEEDS, QUICK_REGRESSION_HOURS, QUICK_SEEDS } from './standing-seeds.ts';
import { run, testCancellingSeeds, testRegressions, testSeeds } from './standing-worlds.ts';

describe('the simulated world', () => {
  testSeeds(QUICK_SEEDS);

  testCancellingSeeds(QUICK_CANCELLING_SEEDS);

  it('hears most of what is said over the loudspeaker where the echo is cancelled', async () => {
    const shares: number[] = [];
    for (const cancels of [false, true]) {
      const both = [await run(4200, cancels), await run(4203, cancels)];
      const gatedS = both.reduce((sum, { excusedS }) => sum + excusedS.gated, 0);
      shares.push(gatedS / both.reduce((sum, { spokenS }) => sum + spokenS, 0));
    }
    const [halfDuplex = 0, cancelled = 1] = shares;
    expect(halfDuplex).toBeGreaterThan(0.1);
    expect(cancelled).toBeLessThan(halfDuplex / 3);
  });

  testRegressions(QUICK_REGRESSION_HOURS);

  it('says most of what nothing keeps from being said', async () => {
    const { spokenS, saidS, excusedS } = await run(4200);
    const judged = saidS + Object.values(excusedS).reduce((sum, seconds) => sum + seconds, 0);
    expect(spokenS).toBeGreaterThan(30);
    expect(saidS).toBeGreaterThan(10);
    expect(judged).toBeLessThanOrEqual(spokenS + 1);
  });

  it('is the same for the same seed, and another for another one', async () => {
    const [first, again, other] = [
      await runSeed(4200, 0.1),
      await runSeed(4200, 0.1),
      await runSeed(4201, 0.1),
    ];
    expect(again).toEqual(first);
    expect(other?.trace).not.toBe(first?.trace);
  });
});
