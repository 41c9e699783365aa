import { describe, expect, it } from 'vitest';
import { EXCUSES, type Excuse } from './speech-excuses.ts';
import { type Judging, judgeTicks } from './unsaid.ts';
import { createViolations } from './violations.ts';

const ticks = (count: number): number[] => Array.from({ length: count }, (_, index) => 100 + index);

/** Judges a word of `count` ticks that was never spoken. */
function judge(count: number, changes: Partial<Judging>): { lost: number; excused: number } {
  const violations = createViolations(() => 0);
  const excused = Object.fromEntries(EXCUSES.map((name) => [name, 0])) as Record<Excuse, number>;
  judgeTicks(ticks(count), {
    violations,
    excused,
    describe: () => '',
    isApart: () => false,
    isSaid: () => false,
    excuse: () => null,
    isLeftOut: () => true,
    wentOn: () => true,
    isRendered: () => false,
    isUnnamed: () => false,
    ...changes,
  });
  return { lost: violations.list.length, excused: excused.service };
}

describe('a word that was never spoken', () => {
  it('counts as noise when it has at most 16 ticks, even if its stream broke', () => {
    expect(judge(16, { isLeftOut: () => false })).toEqual({ lost: 0, excused: 16 });
  });

  it('is excused up to 20 ticks when the service heard it and its stream continued', () => {
    expect(judge(20, {})).toEqual({ lost: 0, excused: 20 });
    expect(judge(21, {}).lost).toBe(1);
  });

  it('is lost when its stream broke soon after, or when the service never heard it', () => {
    expect(judge(18, { wentOn: (tick) => tick !== 110 }).lost).toBe(1);
    expect(judge(18, { isLeftOut: (tick) => tick !== 110 }).lost).toBe(1);
  });
});
