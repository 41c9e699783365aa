import { describe, expect, it } from 'vitest';
import { draw, seededRandom } from '../../src/core/random.ts';
import { fc } from '../properties.ts';

function drawMany(seed: number, count: number): number[] {
  const values: number[] = [];
  let state = seed;
  for (let i = 0; i < count; i++) {
    const drawn = draw(state);
    values.push(drawn.value);
    state = drawn.seed;
  }
  return values;
}

describe('draw', () => {
  it('follows the stated generator', () => {
    // Reference values of mulberry32 for the seed 1.
    expect(drawMany(1, 3)).toEqual([0.6270739405881613, 0.002735721180215478, 0.5274470399599522]);
  });

  it('gives numbers from 0 to below 1, and the next seed', () => {
    fc.assert(
      fc.property(fc.integer(), (seed) => {
        const drawn = draw(seed);
        expect(drawn.value).toBeGreaterThanOrEqual(0);
        expect(drawn.value).toBeLessThan(1);
        expect(Number.isInteger(drawn.seed)).toBe(true);
        expect(drawn.seed).not.toBe(seed);
      }),
    );
  });

  it('gives the same numbers for the same seed', () => {
    expect(drawMany(42, 20)).toEqual(drawMany(42, 20));
    expect(drawMany(42, 20)).not.toEqual(drawMany(43, 20));
  });

  it('can also be a source that keeps its state', () => {
    const next = seededRandom(42);
    expect(Array.from({ length: 20 }, next)).toEqual(drawMany(42, 20));
  });

  it('spreads evenly', () => {
    const tenths = new Array<number>(10).fill(0);
    for (const value of drawMany(7, 20_000)) {
      const tenth = Math.floor(value * 10);
      tenths[tenth] = (tenths[tenth] ?? 0) + 1;
    }
    for (const count of tenths) expect(Math.abs(count - 2000)).toBeLessThan(200);
  });
});
