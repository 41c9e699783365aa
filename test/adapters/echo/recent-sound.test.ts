import { describe, expect, it } from 'vitest';
import { blend, createRecentSound } from '../../../src/adapters/echo/recent-sound.ts';

const frame = (first: number): Float32Array => Float32Array.from([first, first + 1, first + 2, first + 3]);

describe('recent sound', () => {
  it('has the frames before the last one, and the one that is so late', () => {
    const recent = createRecentSound(4, 2, 3);
    expect([...recent.late]).toEqual([0, 0, 0, 0]);
    for (const first of [1, 5, 9, 13]) recent.push(frame(first));
    expect([0, 1, 2].map((ago) => [...recent.before(ago)])).toEqual([
      [13, 14, 15, 16],
      [9, 10, 11, 12],
      [5, 6, 7, 8],
    ]);
    expect([...recent.late]).toEqual([10, 11, 12, 13]);
  });

  it('goes back as far as its sound is late', () => {
    const recent = createRecentSound(4, 0, 9);
    for (const first of [1, 5, 9, 13]) recent.push(frame(first));
    expect([...recent.late]).toEqual([4, 5, 6, 7]);
  });

  it('goes over into another sound', () => {
    const target = new Float32Array(4).fill(8);
    blend(target, target, new Float32Array(4));
    expect([...target]).toEqual([7, 5, 3, 1]);
  });
});
