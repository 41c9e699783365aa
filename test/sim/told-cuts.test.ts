import { describe, expect, it } from 'vitest';
import type { Job } from './speech-ports.ts';
import { checkUnspoken, cutJobs, meantTicks } from './told-cuts.ts';
import { createViolations } from './violations.ts';

/** A translation of 100 ticks of which some have come. */
const job = (id: number, deliveredTicks: number, more: Partial<Job> = {}): Job => ({
  ...{ id, stream: 'stream', sentence: 'sentence', language: 'es', ticks: [id], lengthTicks: 100 },
  ...{ playedTicks: 0, spoiled: false, leftOut: false, renderedAt: 0, deliveredTicks },
  ...more,
});
const TOLD = { language: 'es', played_ms: 2000 };
const cut = (jobs: readonly Job[], more = {}, told: Record<string, unknown> = TOLD): readonly number[] =>
  cutJobs(jobs, told, {
    ...{ named: true, isFirst: () => true, isZeroOpen: false, isWritten: () => true, isPlaced: () => true },
    ...more,
  }).map(({ id }) => id);

describe('a translation that is told as cut off', () => {
  it('is one of which something is missing, and of which enough came not to be said again', () => {
    expect(cut([job(1, 10), job(2, 30), job(3, 100)])).toEqual([2]);
    expect(cut([job(1, 10), job(2, 30)], { isFirst: () => false })).toEqual([1, 2]);
    expect(cut([job(1, 0), job(2, 10)], { named: false })).toEqual([2]);
    expect(cut([job(1, 30), job(2, 30, { language: 'fr' })])).toEqual([1]);
    expect(cut([job(1, 0), job(2, 30)], { named: false }, { played_ms: 0 })).toEqual([]);
  });

  it('may be any of which no text tells how long it should be', () => {
    expect(cut([job(1, 10), job(2, 100)], { isWritten: ([id]: readonly number[]) => id === 2 })).toEqual([1]);
  });

  it('is the whole sentence where no text has told of its parts', () => {
    const parts = [job(1, 100), job(2, 30), job(3, 0), job(4, 0, { sentence: 'other' })];
    expect(cut(parts, { named: false, isWritten: () => false })).toEqual([2, 3]);
    expect(cut(parts, { named: false })).toEqual([2]);
  });

  it('is all that was sent behind it as well, up to the length that is told, where no text tells what it is of', () => {
    const connectionOf = (tick: number) => (tick < 108 ? 1 : 2);
    const one = job(1, 10, { ticks: [100, 101, 102] });
    expect(meantTicks(one, { expected_ms: 120 }, () => false, connectionOf)).toEqual([
      100, 101, 102, 103, 104, 105,
    ]);
    expect(meantTicks(one, { expected_ms: 2000 }, () => false, connectionOf).at(-1)).toBe(107);
    expect(meantTicks(one, { expected_ms: 120 }, () => true, connectionOf)).toEqual([100, 101, 102]);
  });

  it('may be any part of one beside a whole part, where nobody can know which seconds they translate', () => {
    expect(cut([job(1, 10), job(2, 100)], { isZeroOpen: true })).toEqual([1]);
    expect(cut([job(1, 10), job(2, 100)])).toEqual([]);
    expect(cut([job(1, 10), job(2, 100)], { isPlaced: () => false })).toEqual([1]);
    expect(cut([job(1, 10)], { isPlaced: () => false })).toEqual([]);
    expect(cut([job(1, 10), job(2, 90)], { isZeroOpen: true })).toEqual([2]);
    expect(cut([job(1, 10), job(2, 100, { sentence: 'other' })], { isZeroOpen: true })).toEqual([]);
    expect(cut([job(1, 10), job(2, 100, { language: 'fr' })], { isZeroOpen: true })).toEqual([]);
  });
});

describe('a translation that is told as never spoken', () => {
  const found = (jobs: readonly Job[], playedMs = 0): number => {
    const violations = createViolations(() => 0);
    checkUnspoken(violations, jobs, { language: 'es', played_ms: playedMs }, 120_000);
    return violations.list.length;
  };

  it('has not reached the device, lately and in this language', () => {
    const recent = { renderedAt: 60_000 };
    expect(found([job(1, 0, recent)])).toBe(0);
    expect(found([job(1, 100, recent)])).toBe(1);
    expect(found([job(1, 100, recent)], 200)).toBe(0);
    expect(found([job(1, 0), job(2, 0, { ...recent, language: 'fr' })])).toBe(1);
  });
});
