import { describe, expect, it } from 'vitest';
import { PHASE_NAMES } from '../../src/core/lane/phases.ts';
import { phasesReached, testOwned } from './owner-tests.ts';

describe('an agent with an owner', () => {
  testOwned();
});

describe('messages of an owner', () => {
  it('reach a lane in each of its phases', async () => {
    const reached = await phasesReached([2, 3, 4, 13, 14, 15]);
    // A closed lane gets no messages, and no step throws in this world.
    const open = PHASE_NAMES.filter((phase) => phase !== 'closed' && phase !== 'restarting');
    expect(open.filter((phase) => !reached.document.has(phase))).toEqual([]);
    expect(open.filter((phase) => !reached.command.has(phase))).toEqual([]);
  });
});
