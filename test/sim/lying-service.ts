import { describe, expect, it } from 'vitest';
import { runSeed } from './run-seed.ts';

const faults = ['times_wrong', 'reset', 'reset_mid_output'];

interface Sums {
  /** Lost, or said twice, and nobody could know. */
  doubtfulS: number;
  /** How often the device has told that it does not believe the times any more. */
  refused: number;
}

/** The same worlds and faults, with times in the transcripts or without. */
async function sumsWith(seeds: readonly number[], hours: number, segments: 'words' | 'none'): Promise<Sums> {
  const sums = { doubtfulS: 0, refused: 0 };
  for (const seed of seeds) {
    const { violations, excusedS, repeatedS } = await runSeed(seed, hours, {
      faults,
      changeTerms: (drawn) => ({
        ...drawn,
        ...{ profile: 'live', untold: [], choices: { ...drawn.choices, segments } },
      }),
      observe({ effects }) {
        for (const effect of effects)
          if (effect.type === 'notify' && effect.kind === 'times_refused') sums.refused++;
      },
    });
    expect(violations.map(({ rule, text }) => `${seed} ${segments} ${rule}: ${text}`)).toEqual([]);
    sums.doubtfulS += excusedS.unnamed + repeatedS;
  }
  return sums;
}

/**
 * @param hours of each world
 * @param leastDoubtS without times so much is in doubt in these worlds: they have met with what this is about
 */
export function testLies(seeds: readonly number[], hours: number, leastDoubtS: number): void {
  describe('a service that tells times which are not true', () => {
    it('costs no more speech than one that tells none', async () => {
      const [lying, silent] = [await sumsWith(seeds, hours, 'words'), await sumsWith(seeds, hours, 'none')];
      expect(lying.refused).toBeGreaterThan(seeds.length);
      expect(silent.refused).toBe(0);
      expect(silent.doubtfulS).toBeGreaterThan(leastDoubtS);
      expect(lying.doubtfulS).toBeLessThanOrEqual(silent.doubtfulS);
    });
  });
}
