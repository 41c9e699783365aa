import { describe, expect, it } from 'vitest';
import { recoveryBoundS } from './recovery.ts';
import { runSeed } from './run-seed.ts';

/** Tried one after the other until the fault has happened `OFTEN` times. */
const SEEDS = [5100, 5101, 5102];
const OFTEN = 2;
/** Bound of recovery (s) above which the run must be long enough for twelve calm minutes, which a parked lane needs. */
const PARKED_S = 450;
const hoursOf = (kind: string): number => (recoveryBoundS(kind) > PARKED_S ? 0.4 : 0.25);

export function testLoneFaults(kinds: readonly string[]): void {
  describe('a single kind of fault keeps its bound of recovery and explains all losses', () => {
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
