import { describe, expect, it } from 'vitest';
import { EXCUSES, type Excuse } from './speech-excuses.ts';
import { type Judging, judgeTicks } from './unsaid.ts';
import { createViolations } from './violations.ts';

const ticks = (count: number): number[] => Array.from({ length: count }, (_, index) => 100 + index);

/** Judges a word that was never said. */
function judge(count: number, told: Partial<Judging>): { lost: number; excused: number } {
  const violations = createViolations(() => 0);
  const excused = Object.fromEntries(EXCUSES.map((name) => [name, 0])) as Record<Excuse, number>;
  judgeTicks(ticks(count), {
    ...{ violations, excused, describe: () => '' },
    ...{ isApart: () => false, isSaid: () => false, excuse: () => null },
    ...{ isLeftOut: () => true, wentOn: () => true, isRendered: () => false, isUnnamed: () => false },
    ...told,
  });
  return { lost: violations.list.length, excused: excused.service };
}

describe('a word that was never said', () => {
  it('is noise to a service where it is as short as that, whatever became of its stream', () => {
    expect(judge(16, { isLeftOut: () => false })).toEqual({ lost: 0, excused: 16 });
  });

  it('is left out by a service that has heard it on a stream that went on, where it is soft and short', () => {
    expect(judge(20, {})).toEqual({ lost: 0, excused: 20 });
    expect(judge(21, {}).lost).toBe(1);
  });

  it('is lost where its stream broke off soon after, or the service never had it', () => {
    expect(judge(18, { wentOn: (tick) => tick !== 110 }).lost).toBe(1);
    expect(judge(18, { isLeftOut: (tick) => tick !== 110 }).lost).toBe(1);
  });
});
