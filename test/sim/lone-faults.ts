import { describe, expect, it } from 'vitest';
import { recoveryBoundS } from './recovery.ts';
import { runSeed } from './run-seed.ts';

/** Tried one after the other until the fault has happened so often. */
const SEEDS = [5100, 5101, 5102];
const OFTEN = 2;
/** A lane that may be parked needs all of the calm twelve minutes at the end, from 0.4 hours on. */
const PARKED_S = 450;
const hoursOf = (kind: string): number => (recoveryBoundS(kind) > PARKED_S ? 0.4 : 0.25);

export function testLoneFaults(kinds: readonly string[]): void {
  describe('one kind of fault alone: its own bound of recovery holds, and what is lost is its own', () => {
    it.each(kinds)('%s', async (kind) => {
      let happened = 0;
      for (const seed of SEEDS) {
        if (happened >= OFTEN) break;
        const { violations, faults } = await runSeed(seed, hoursOf(kind), { faults: [kind] });
        const found = violations.map(({ rule, text }) => `${seed} ${rule}: ${text}`);
        expect(found).toEqual([]);
        happened += faults[kind] ?? 0;
      }
      expect(happened).toBeGreaterThanOrEqual(OFTEN);
    });
  });
}
