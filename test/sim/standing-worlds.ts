import { expect, it } from 'vitest';
import { REGRESSIONS } from './regressions.ts';
import { type RunResult, runSeed } from './run-seed.ts';
import { HOURS } from './standing-seeds.ts';
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
export function run(seed: number, cancels = false): Promise<RunResult> {
  const key = `${seed} ${cancels}`;
  const known = runs.get(key) ?? runSeed(seed, HOURS, { cancels });
  runs.set(key, known);
  return known;
}

/** Each of these worlds is left whole. */
export function testSeeds(seeds: readonly number[]): void {
  it.each(seeds)('seed %i keeps every invariant', async (seed) => {
    const { violations } = await run(seed);
    expect(show(seed, HOURS, violations)).toEqual([]);
  });
}

/** So is each of these, by a lane that cancels its echo. */
export function testCancellingSeeds(seeds: readonly number[]): void {
  it.each(seeds)('seed %i keeps every invariant with a lane that cancels its echo', async (seed) => {
    const { violations } = await run(seed, true);
    expect(show(seed, HOURS, violations, ' --cancel')).toEqual([]);
  });
}

/** What found something once, and needs no longer than this, finds nothing any more. */
export function testRegressions(hoursAtMost: number): void {
  it.each(REGRESSIONS.filter(({ hours: of }) => of <= hoursAtMost))(
    'seed $seed stays fixed: $found',
    async ({ seed, hours, generation }) => {
      const { violations } = await runSeed(seed, hours, { generation });
      expect(show(seed, hours, violations, ` --generation ${generation}`)).toEqual([]);
    },
  );
}
