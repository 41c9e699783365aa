import { describe, expect, it } from 'vitest';
import type { LaneStep } from '../../src/agent/lane/lane-runner.ts';
import { createLeftOut } from './left-out.ts';
import { testLeftOut } from './left-out-world.ts';
import { createViolations } from './violations.ts';

describe('a service that gives interim texts of a sentence and no more', () => {
  testLeftOut(0.2);

  it('is the cause where it has left something out, as far as its times let anybody know', async () => {
    const told = { before: { backlog: { accounts: { lost: 0 } }, loss: null } };
    const step = { ...told, after: { backlog: { accounts: { lost: 7 } }, loss: { cause: 'left_out' } } };
    const judge = (isTruthful: boolean, leavesOut: boolean): number => {
      const violations = createViolations(() => 0);
      const leftOut = createLeftOut(violations, () => isTruthful);
      if (leavesOut) leftOut.begun({ ticks: [1], renderedAt: 0 });
      leftOut.step(step as unknown as LaneStep, 1000);
      return violations.list.length;
    };
    expect(judge(true, false)).toBe(1);
    expect(judge(true, true)).toBe(0);
    expect(judge(false, false)).toBe(0);
  });
});
