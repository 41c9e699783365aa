import { describe, expect, it } from 'vitest';
import { createBatchedDelivery } from '../../../src/core/audio/batched-delivery.ts';

const PERIOD = 7680;
const PERIOD_MS = 320;

describe('detection of periods that arrive in bunches', () => {
  it('reports regular bunches, delivered in one piece or in two', () => {
    const asOne = createBatchedDelivery(PERIOD, 24_000);
    const asTwo = createBatchedDelivery(PERIOD, 24_000);
    const found = { one: false, two: false };
    for (let at = 1; at <= 12; at++) {
      const now = at * 2 * PERIOD_MS;
      found.one = asOne.note(2 * PERIOD, now) || found.one;
      const first = asTwo.note(PERIOD, now);
      found.two = asTwo.note(PERIOD, now + 0.2) || first || found.two;
    }
    expect(found).toEqual({ one: true, two: true });
  });

  it('reports nothing for single periods or after one busy moment', () => {
    const batchedDelivery = createBatchedDelivery(PERIOD, 24_000);
    for (let at = 1; at < 200; at++) {
      const isBlocked = at % 24 > 10 && at % 24 < 20;
      if (isBlocked) continue;
      expect(batchedDelivery.note(at % 24 === 20 ? 10 * PERIOD : PERIOD, at * PERIOD_MS)).toBe(false);
    }
  });
});
