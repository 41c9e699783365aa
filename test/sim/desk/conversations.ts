import { expect, it } from 'vitest';
import { runDesk } from './desk.ts';
import { emptyFigures } from './oracle.ts';
import { addFigures, brokenPromises, FORMS } from './sum.ts';

/** @param seeds conversations in each form; odd ones have an outage */
export function testConversations(seeds: readonly number[]): void {
  it.each(FORMS)(
    'translates each person for the other one, and nothing else, when the form is %s',
    async (form) => {
      let sum = emptyFigures(form);
      const problems: string[] = [];
      for (const seed of seeds) {
        const run = await runDesk(seed, form, { faults: seed % 2 === 1 });
        sum = addFigures(sum, run.figures);
        problems.push(...run.problems.map((problem) => `seed ${seed}: ${problem}`));
      }
      expect(brokenPromises(sum), problems.join('\n')).toEqual([]);
    },
  );
}
