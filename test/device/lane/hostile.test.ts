import { describe, expect, it } from 'vitest';
import { PHASE_NAMES } from '../../../src/protocol/phases.ts';
import { describeStep, describeWhateverHappens, reach } from './whatever-happens.ts';

/** The long test runs many more sequences, and checks where they lead. */
describeWhateverHappens('known', { seed: 20_261_121, numRuns: 4 });
describeStep(10);

describe('the hostile world', () => {
  it('reaches every phase', () => {
    expect([...reach(100).phases].toSorted()).toEqual([...PHASE_NAMES].toSorted());
  });
});
