import { describe, expect, it } from 'vitest';
import { REGRESSIONS } from './regressions.ts';
import { runSeed } from './run.ts';
import type { Violation } from './violations.ts';

/** What a failing seed shows: the line that reproduces it, and what it found. */
function show(seed: number, hours: number, violations: readonly Violation[]): string[] {
  return violations
    .slice(0, 3)
    .map(
      ({ rule, atMs, text }) =>
        `npm run sim -- --seed ${seed} --seeds 1 --hours ${hours}: ${rule} at ${atMs} ms: ${text}`,
    );
}

const SEEDS = Array.from({ length: 24 }, (_, index) => 4200 + index);
const HOURS = 0.5;

describe('the simulated world', () => {
  it.each(SEEDS)('seed %i keeps every invariant', async (seed) => {
    const { violations } = await runSeed(seed, HOURS);
    expect(show(seed, HOURS, violations)).toEqual([]);
  });

  it.each(REGRESSIONS)('seed $seed stays mended: $found', async ({ seed, hours }) => {
    const { violations } = await runSeed(seed, hours);
    expect(show(seed, hours, violations)).toEqual([]);
  });

  it('says most of what nothing keeps from being said', async () => {
    const { spokenS, saidS, excusedS } = await runSeed(4200, HOURS);
    const judged = saidS + Object.values(excusedS).reduce((sum, seconds) => sum + seconds, 0);
    expect(spokenS).toBeGreaterThan(30);
    expect(saidS).toBeGreaterThan(10);
    expect(judged).toBeLessThanOrEqual(spokenS + 1);
  });

  it('is the same for the same seed, and another for another one', async () => {
    const [first, again, other] = [await runSeed(77, 0.3), await runSeed(77, 0.3), await runSeed(78, 0.3)];
    expect(again).toEqual(first);
    expect(other?.trace).not.toBe(first?.trace);
  });
});
