import { describe, expect, it } from 'vitest';
import { runSeed } from './run-seed.ts';

const SEEDS = Array.from({ length: 8 }, (_, index) => 8000 + index);
const HOURS = 0.5;
const faults = ['times_wrong', 'reset', 'reset_mid_output'];

interface Sums {
  /** Lost, or said twice, and nobody could know. */
  doubtfulS: number;
  /** How often the device has told that it does not believe the times any more. */
  refused: number;
}

/** The same worlds and faults, with times in the transcripts or without. */
async function sumsWith(segments: 'words' | 'none'): Promise<Sums> {
  const sums = { doubtfulS: 0, refused: 0 };
  for (const seed of SEEDS) {
    const { violations, excusedS, repeatedS } = await runSeed(seed, HOURS, {
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

describe('a service that tells times which are not true', () => {
  it('costs no more speech than one that tells none', async () => {
    const [lying, silent] = [await sumsWith('words'), await sumsWith('none')];
    expect(lying.refused).toBeGreaterThan(SEEDS.length);
    expect(silent).toMatchObject({ refused: 0 });
    // Both have met with what this is about.
    expect(silent.doubtfulS).toBeGreaterThan(2);
    expect(lying.doubtfulS).toBeLessThanOrEqual(silent.doubtfulS);
  });
});
