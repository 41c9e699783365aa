import { describe, expect, it } from 'vitest';
import {
  createAddressAttempts,
  decideAttempt,
  OF_NAME,
  waitFor,
} from '../../../src/backend/console/login-limits.ts';

const MINUTE = 60_000;
const T = Date.UTC(2026, 2, 29, 0, 50);

describe('attempts with one name', () => {
  it.each([
    ['the first one', null, T, { since: T, count: 1 }, 0],
    [
      'the tenth one, a moment before the quarter of an hour is over',
      9,
      T + 15 * MINUTE - 1,
      { since: T, count: 10 },
      0,
    ],
    ['an eleventh one at once', 10, T, null, 15 * MINUTE],
    ['an eleventh one a moment before', 10, T + 15 * MINUTE - 1, null, 1],
    [
      'an eleventh one after a quarter of an hour',
      10,
      T + 15 * MINUTE,
      { since: T + 15 * MINUTE, count: 1 },
      0,
    ],
    ['a second one after a quarter of an hour', 1, T + 15 * MINUTE, { since: T + 15 * MINUTE, count: 1 }, 0],
  ])('%s', (_what, count, now, attempts, waitMs) => {
    const known = count === null ? null : { since: T, count };
    expect(decideAttempt(known, OF_NAME, now)).toEqual({ attempts, waitMs });
    expect(waitFor(known, OF_NAME, now)).toBe(waitMs);
  });
});

describe('attempts of networks', () => {
  it('keep the lock of one while a guesser comes from twenty thousand others', () => {
    const attempts = createAddressAttempts();
    const lock = (address: string, now: number) => {
      for (let count = 0; count < 30; count += 1) expect(attempts.count(address, now)).toBe(0);
    };
    lock('192.0.2.1', T);
    lock('192.0.2.2', T + 10 * MINUTE);
    for (let index = 0; index < 19_998; index += 1)
      attempts.count(`10.1.${index >> 8}.${index & 255}`, T + MINUTE);
    // The others are forgotten for room: a quarter of an hour has passed.
    expect(attempts.count('198.51.100.1', T + 16 * MINUTE)).toBe(0);
    expect(attempts.count('192.0.2.2', T + 16 * MINUTE)).toBe(9 * MINUTE);
    expect(attempts.count('192.0.2.1', T + 16 * MINUTE)).toBe(0);
  });

  it('are taken back of the network that made them, and of no other', () => {
    const attempts = createAddressAttempts();
    for (let count = 0; count < 30; count += 1) attempts.count('2001:db8:1:2::1', T);
    attempts.takeBack('192.0.2.9');
    expect(attempts.count('2001:db8:1:2::1', T)).toBe(15 * MINUTE);
    attempts.takeBack('2001:db8:1:2:ffff::');
    expect([attempts.count('2001:db8:1:2::1', T), attempts.count('2001:db8:1:2::1', T)]).toEqual([
      0,
      15 * MINUTE,
    ]);
  });
});
