import { describe, expect, it } from 'vitest';
import type { LaneStep } from '../../src/device/lane/runner/lane-runner.ts';
import { createCounted } from './counted.ts';
import { runSeed } from './run-seed.ts';
import { withService } from './terms.ts';
import { createViolations } from './violations.ts';

describe('the check that the device counts unsaid speech', () => {
  /** @param lostChunks number of chunks (320 ms each) that the step counts as lost */
  const step = (lostChunks: number, unspokenMs: number): LaneStep =>
    ({
      before: { backlog: { accounts: { lost: 0 } }, counts: { unspokenMs: 0 } },
      after: { backlog: { accounts: { lost: lostChunks } }, counts: { unspokenMs } },
    }) as unknown as LaneStep;
  const found = (lostChunks: number, unspokenMs: number): number => {
    const violations = createViolations(() => 0);
    const counted = createCounted(violations);
    counted.step(step(lostChunks, unspokenMs));
    // 40 s are unsaid through outage or service; the device must count all but 4 s.
    for (let tick = 0; tick < 1000; tick++) counted.unsaid('outage');
    for (let tick = 0; tick < 1000; tick++) counted.unsaid('service');
    for (let tick = 0; tick < 1000; tick++) counted.unsaid('gated');
    counted.compare();
    return violations.list.length;
  };

  it('fails when the counts lack more than 4 s', () => {
    expect(found(50, 20_000)).toBe(0);
    expect(found(49, 20_000)).toBe(1);
    expect(found(50, 19_900)).toBe(1);
  });
});

it('reports no loss when nothing goes wrong', async () => {
  const reported: string[] = [];
  const { violations, saidS } = await runSeed(700, 0.25, {
    faults: [],
    changeTerms: (drawn) => withService(drawn, 'a'),
    observe({ effects }) {
      for (const effect of effects)
        if (effect.type === 'notify' && ['speech_lost', 'unspoken', 'speech_dropped'].includes(effect.kind))
          reported.push(`${effect.kind} ${JSON.stringify(effect.detail)}`);
    },
  });
  expect(violations).toEqual([]);
  expect(saidS).toBeGreaterThan(30);
  expect(reported).toEqual([]);
});
