import { expect, it } from 'vitest';
import { REGRESSIONS } from './regressions.ts';
import { type RunResult, runSeed } from './run-seed.ts';
import type { Violation } from './violations.ts';

/** Describes the violations of a failing seed, with the line that reproduces it. */
function show(seed: number, hours: number, violations: readonly Violation[], more = ''): string[] {
  return violations
    .slice(0, 3)
    .map(
      ({ rule, atMs, text }) =>
        `npm run sim -- --seed ${seed} --seeds 1 --hours ${hours}${more}: ${rule} at ${atMs} ms: ${text}`,
    );
}

const runs = new Map<string, Promise<RunResult>>();

/** Runs a seed once for all tests that use its result. */
export function run(seed: number, hours: number, cancels = false): Promise<RunResult> {
  const key = `${seed} ${hours} ${cancels}`;
  const known = runs.get(key) ?? runSeed(seed, hours, { cancels });
  runs.set(key, known);
  return known;
}

/** Tests that no rule is broken in these seeds. */
export function testSeeds(seeds: readonly number[], hours: number): void {
  it.each(seeds)('breaks no rule: seed %i', async (seed) => {
    const { violations } = await run(seed, hours);
    expect(show(seed, hours, violations)).toEqual([]);
  });
}

/** Tests the same with lanes that cancel their echo. */
export function testCancellingSeeds(seeds: readonly number[], hours: number): void {
  it.each(seeds)('breaks no rule with a lane that cancels its echo: seed %i', async (seed) => {
    const { violations } = await run(seed, hours, true);
    expect(show(seed, hours, violations, ' --cancel')).toEqual([]);
  });
}

/** Tests that less speech is muted in these seeds when the echo is cancelled. */
export function testLessGated(seeds: readonly number[], hours: number): void {
  it('mutes less than a third as much speech when the echo is cancelled', async () => {
    const shares: number[] = [];
    for (const cancels of [false, true]) {
      const all = await Promise.all(seeds.map((seed) => run(seed, hours, cancels)));
      const gatedS = all.reduce((sum, { excusedS }) => sum + excusedS.gated, 0);
      shares.push(gatedS / all.reduce((sum, { spokenS }) => sum + spokenS, 0));
    }
    const [halfDuplex = 0, cancelled = 1] = shares;
    expect(halfDuplex).toBeGreaterThan(0.1);
    expect(cancelled).toBeLessThan(halfDuplex / 3);
  });
}

export function testMostIsSaid(seed: number, hours: number): void {
  it('translates speech, and has an excuse for the rest', async () => {
    const { spokenS, saidS, excusedS } = await run(seed, hours);
    const judged = saidS + Object.values(excusedS).reduce((sum, seconds) => sum + seconds, 0);
    expect(spokenS).toBeGreaterThan(30);
    expect(saidS).toBeGreaterThan(10);
    expect(judged).toBeLessThanOrEqual(spokenS + 1);
  });
}

export function testRepeats(seed: number, another: number, hours: number): void {
  it('has the same result for the same seed, and another one for another seed', async () => {
    const [first, again, other] = [
      await run(seed, hours),
      await runSeed(seed, hours, { cancels: false }),
      await run(another, hours),
    ];
    expect(again).toEqual(first);
    expect(other?.trace).not.toBe(first?.trace);
  });
}

/** Tests that the regression seeds up to this length find no defect any more. */
export function testRegressions(hoursAtMost: number): void {
  it.each(REGRESSIONS.filter(({ hours: of }) => of <= hoursAtMost))(
    'breaks no rule with seed $seed, which once found: $found',
    async ({ seed, hours, generation }) => {
      const { violations } = await runSeed(seed, hours, { generation });
      expect(show(seed, hours, violations, ` --generation ${generation}`)).toEqual([]);
    },
  );
}
