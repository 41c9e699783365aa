/** Denials by the backend's own limits. Waits are computed by hand. */
import { expect, it } from 'vitest';
import { busy, countUnknownDevices, tooMany, withoutStore } from '../../../src/backend/issuing/denials.ts';

const UNKNOWN = Number.POSITIVE_INFINITY;

it('spread the next tries of devices that are denied at once', () => {
  const waits = (denial: (draw: number) => { retry_after_s?: number | null | undefined }) =>
    [0, 0.5, 1].map((draw) => denial(draw).retry_after_s);
  expect(waits((draw) => busy('the lane', draw))).toEqual([5, 10, 15]);
  expect(waits(withoutStore)).toEqual([5, 10, 15]);
  expect(waits((draw) => tooMany({ burst: 1, perMinute: 6 }, 10_000, draw))).toEqual([10, 13, 15]);
});

it('to devices that never had a session are 50 at once and ten a second, whatever known devices get', () => {
  const isFlood = countUnknownDevices();
  for (let answers = 0; answers < 200; answers += 1) expect(isFlood(0, 0)).toBe(false);
  const sent = (now: number) =>
    Array.from({ length: 100 }, () => isFlood(UNKNOWN, now)).filter((flood) => !flood).length;
  expect([sent(0), sent(99), sent(1099)]).toEqual([50, 0, 10]);
});
