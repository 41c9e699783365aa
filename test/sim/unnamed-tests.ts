import { expect, it } from 'vitest';
import { runSeed } from './run-seed.ts';
import { withService } from './terms.ts';
import { addRun, createUnnamedSums, tooMuchUnnamed } from './unnamed.ts';

const FIRST_SEED = 9000;
const STREAM_BREAKS = ['reset_mid_speech', 'reset_mid_output', 'reset', 'close', 'revoke', 'late_messages'];

/** Tests broken streams of services without times (b), and without ids and times (c). @param hours hours of each seed */
export function testUnnamed(seeds: number, hours: number): void {
  it.each(['b', 'c'] as const)('stays within its bounds when streams break: case %s', async (one) => {
    const sums = createUnnamedSums();
    for (let seed = FIRST_SEED; seed < FIRST_SEED + seeds; seed++) {
      const run = await runSeed(seed, hours, {
        faults: STREAM_BREAKS,
        changeTerms: (drawn) => withService(drawn, one),
      });
      expect(run.violations.map(({ rule, text }) => `${seed} ${rule}: ${text}`)).toEqual([]);
      addRun(sums, run);
    }
    expect(sums[one].hours).toBeCloseTo(seeds * hours, 1);
    expect(tooMuchUnnamed(sums)).toEqual([]);
  });
}
