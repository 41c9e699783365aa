import { describe, expect, it } from 'vitest';
import { REGRESSIONS } from './regressions.ts';
import { type RunResult, runSeed } from './run-seed.ts';
import { CANCELLING_SEEDS, HOURS, REGRESSION_HOURS, SEEDS } from './standing-seeds.ts';
import type { Violation } from './violations.ts';

/** What a failing seed shows: the line that reproduces it, and what it found. */
function show(seed: number, hours: number, violations: readonly Violation[], more = ''): string[] {
  return violations
    .slice(0, 3)
    .map(
      ({ rule, atMs, text }) =>
        `npm run sim -- --seed ${seed} --seeds 1 --hours ${hours}${more}: ${rule} at ${atMs} ms: ${text}`,
    );
}

const runs = new Map<string, Promise<RunResult>>();

/** A seed's run: what several tests look into is run once. */
function run(seed: number, cancels = false): Promise<RunResult> {
  const key = `${seed} ${cancels}`;
  const known = runs.get(key) ?? runSeed(seed, HOURS, { cancels });
  runs.set(key, known);
  return known;
}

describe('the simulated world', () => {
  it.each(SEEDS)('seed %i keeps every invariant', async (seed) => {
    const { violations } = await run(seed);
    expect(show(seed, HOURS, violations)).toEqual([]);
  });

  it.each(CANCELLING_SEEDS)(
    'seed %i keeps every invariant with a lane that cancels its echo',
    async (seed) => {
      const { violations } = await run(seed, true);
      expect(show(seed, HOURS, violations, ' --cancel')).toEqual([]);
    },
  );

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

  it.each(REGRESSIONS.filter(({ hours: of }) => of <= REGRESSION_HOURS))(
    'seed $seed stays fixed: $found',
    async ({ seed, hours, generation }) => {
      const { violations } = await runSeed(seed, hours, { generation });
      expect(show(seed, hours, violations, ` --generation ${generation}`)).toEqual([]);
    },
  );

  it('says most of what nothing keeps from being said', async () => {
    const { spokenS, saidS, excusedS } = await run(4200);
    const judged = saidS + Object.values(excusedS).reduce((sum, seconds) => sum + seconds, 0);
    expect(spokenS).toBeGreaterThan(30);
    expect(saidS).toBeGreaterThan(10);
    expect(judged).toBeLessThanOrEqual(spokenS + 1);
  });

  it('is the same for the same seed, and another for another one', async () => {
    const [first, again, other] = [await run(4200), await runSeed(4200, HOURS), await run(4201)];
    expect(again).toEqual(first);
    expect(other?.trace).not.toBe(first?.trace);
  });
});
