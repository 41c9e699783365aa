import { describe, expect, it } from 'vitest';
import { addRun, createUnnamedSums, tooMuchUnnamed } from './unnamed.ts';
import { testUnnamed } from './unnamed-tests.ts';

describe('speech in doubt', () => {
  it('is reported when a sum of its case exceeds the bound', () => {
    const found = (unnamed: number, repeatedS: number): number => {
      const sums = createUnnamedSums();
      for (const serviceCase of ['b', 'c'] as const)
        addRun(sums, { serviceCase, hours: 10, excusedS: { unnamed }, repeatedS });
      return tooMuchUnnamed(sums).length;
    };
    expect([found(10, 10), found(100, 10), found(100, 100), found(1000, 100)]).toEqual([0, 1, 3, 4]);
  });

  testUnnamed(1, 0.2);
});
