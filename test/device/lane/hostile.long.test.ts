import { describe, expect, it } from 'vitest';
import { PHASE_NAMES, PHASES } from '../../../src/protocol/phases.ts';
import { describeStep, describeWhateverHappens, reach } from './whatever-happens.ts';

describeWhateverHappens('known', { seed: 20_261_121, numRuns: 80 });
describeWhateverHappens('fresh', { numRuns: 20 });
describeStep(30);

describe('the hostile world', () => {
  it('reaches every phase and causes every kind of effect', () => {
    const { phases, effects, walks } = reach(2600);
    expect([...phases].toSorted()).toEqual([...PHASE_NAMES].toSorted());
    expect(effects.size).toBe(21);
    const table = PHASE_NAMES.flatMap((from) => PHASES[from].to.map((to) => `${from} > ${to}`));
    expect([...walks].toSorted()).toEqual(table.toSorted());
  });
});
