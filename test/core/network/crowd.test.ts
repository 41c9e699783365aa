import { describe, expect, it } from 'vitest';
import { type Caller, crowdedOut, keepsUp } from '../../../src/core/network/crowd.ts';

const LIMITS = { most: 6, mostOfAddress: 4 };
/** From words such as "a1 asking". */
const callers = (...words: string[]): Caller[] =>
  words.map((word) => {
    const [, address = '', number, stage] = /^(\D+)(\d+) (\w+)$/.exec(word) ?? [];
    return { address: address === '-' ? null : address, number: Number(number), stage } as Caller;
  });

describe('a crowded server', () => {
  it.each([
    [
      'nobody while there is room',
      'c',
      ['a1 asking', 'a2 asking', 'a3 asking', 'b4 asking', 'b5 asking'],
      null,
    ],
    [
      'one of the address that has its share',
      'a',
      ['b1 asking', 'a2 asking', 'a3 asking', 'a4 asking', 'a5 asking'],
      2,
    ],
    [
      'its oldest half request before an answer',
      'a',
      ['a1 answered', 'a2 known', 'a3 asking', 'a4 asking'],
      3,
    ],
    [
      'its oldest answer before a signed-in person',
      'a',
      ['a1 known', 'a2 answered', 'a3 answered', 'a4 known'],
      2,
    ],
    ['its oldest signed-in connection at last', 'a', ['a1 known', 'a2 known', 'a3 known', 'a4 known'], 1],
    [
      'one of the address with the most, when the server is full',
      'c',
      ['b1 asking', 'a2 asking', 'a3 asking', 'a4 asking', 'b5 asking', 'd6 asking'],
      2,
    ],
    [
      'a half request of an address with few before an answer of one with many',
      'c',
      ['a1 answered', 'a2 answered', 'a3 answered', 'b4 asking', 'd5 known', 'd6 known'],
      4,
    ],
    [
      'people behind a proxy as one each',
      '-',
      ['-1 asking', '-2 asking', '-3 asking', '-4 asking', 'a5 asking', 'a6 asking'],
      5,
    ],
    [
      'no one behind a proxy while there is room',
      '-',
      ['-1 known', '-2 known', '-3 known', '-4 known', '-5 known'],
      null,
    ],
  ])('closes %s', (_what, address, words, number) => {
    const leaving = crowdedOut(callers(...words), address === '-' ? null : address, LIMITS);
    expect(leaving?.number ?? null).toBe(number);
  });
});

describe('a reader', () => {
  const before = { since: 1000, taken: 500 };
  it.each([
    ['nothing waits', 99_000, { taken: 500, waiting: 0 }, { since: 99_000, taken: 500 }],
    ['it took enough', 99_000, { taken: 500 + 16_384, waiting: 9 }, { since: 99_000, taken: 16_884 }],
    ['it has time left', 30_999, { taken: 500 + 16_383, waiting: 9 }, before],
    ['it took too little for 30 s', 31_000, { taken: 500 + 16_383, waiting: 1 }, null],
  ])('is judged when %s', (_what, now, seen, next) => {
    expect(keepsUp(before, now, seen)).toEqual(next);
  });
});
