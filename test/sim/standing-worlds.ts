import { expect, it } from 'vitest';
import { REGRESSIONS } from './regressions.ts';
import { type RunResult, runSeed } from './run-seed.ts';
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
export function run(seed: number, hours: number, cancels = false): Promise<RunResult> {
  const key = `${seed} ${hours} ${cancels}`;
  const known = runs.get(key) ?? runSeed(seed, hours, { cancels });
  runs.set(key, known);
  return known;
}

/** Each of these worlds is left whole. */
export function testSeeds(seeds: readonly number[], hours: number): void {
  it.each(seeds)('seed %i keeps every invariant', async (seed) => {
    const { violations } = await run(seed, hours);
    expect(show(seed, hours, violations)).toEqual([]);
  });
}

/** So is each of these, by a lane that cancels its echo. */
export function testCancellingSeeds(seeds: readonly number[], hours: number): void {
  it.each(seeds)('seed %i keeps every invariant with a lane that cancels its echo', async (seed) => {
    const { violations } = await run(seed, hours, true);
    expect(show(seed, hours, violations, ' --cancel')).toEqual([]);
  });
}

/** Less is kept from the service in these worlds where the echo is cancelled. */
export function testLessGated(seeds: readonly number[], hours: number): void {
  it('hears most of what is said over the loudspeaker where the echo is cancelled', async () => {
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
  it('says most of what nothing keeps from being said', async () => {
    const { spokenS, saidS, excusedS } = await run(seed, hours);
    const judged = saidS + Object.values(excusedS).reduce((sum, seconds) => sum + seconds, 0);
    expect(spokenS).toBeGreaterThan(30);
    expect(saidS).toBeGreaterThan(10);
    expect(judged).toBeLessThanOrEqual(spokenS + 1);
  });
}

export function testRepeats(seed: number, another: number, hours: number): void {
  it('is the same for the same seed, and another for another one', async () => {
    const [first, again, other] = [
      await run(seed, hours),
      await runSeed(seed, hours, { cancels: false }),
      await run(another, hours),
    ];
    expect(again).toEqual(first);
    expect(other?.trace).not.toBe(first?.trace);
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
