import { describe, expect, it } from 'vitest';
import type { Job } from './speech-ports.ts';
import { cutJobs } from './told-cuts.ts';

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
