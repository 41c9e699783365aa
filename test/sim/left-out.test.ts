import { describe, expect, it } from 'vitest';
import type { LaneStep } from '../../src/agent/lane/lane-runner.ts';
import { createLeftOut } from './left-out.ts';
import { runSeed } from './run-seed.ts';
import { withMessages } from './spoiled.ts';
import { createViolations } from './violations.ts';

const [SEED, HOURS] = [90_000_000, 0.4];
const faults = ['sentence_left_out'];

describe('a service that gives interim texts of a sentence and no more', () => {
  it('loses nothing of which the device does not tell', async () => {
    const { violations, excusedS } = await runSeed(SEED, HOURS, { faults });
    expect(violations.map(({ rule, text }) => `${rule}: ${text}`)).toEqual([]);
    expect(excusedS.left_out).toBeGreaterThan(10);
  });

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

  it('is found out where the device does not hear of them', async () => {
    const spoil = withMessages(({ message_type: type }) => type !== 'partial_transcription');
    const { violations } = await runSeed(SEED, HOURS, { faults, spoil });
    expect(violations.map(({ rule, text }) => `${rule}: ${text}`)).toContainEqual(
      expect.stringMatching(/^told: more than \d+ ms were left out, and 0 ms are told/),
    );
  });
});
