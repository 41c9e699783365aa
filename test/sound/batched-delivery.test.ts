import { describe, expect, it } from 'vitest';
import { createBatchedDelivery } from '../../src/sound/batched-delivery.ts';

const PERIOD = 7680;
const PERIOD_MS = 320;

describe('detection of periods that arrive in bunches', () => {
  it('reports regular bunches, delivered in one piece or in two', () => {
    const asOne = createBatchedDelivery(PERIOD, 24_000);
    const asTwo = createBatchedDelivery(PERIOD, 24_000);
    const found = { one: false, two: false };
    for (let at = 1; at <= 50; at++) {
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

  it('reports nothing on a busy machine, where every third period arrives with the next one', () => {
    const batchedDelivery = createBatchedDelivery(PERIOD, 24_000);
    for (let at = 1; at < 600; at++) {
      if (at % 3 === 1) continue;
      expect(batchedDelivery.note(at % 3 === 2 ? 2 * PERIOD : PERIOD, at * PERIOD_MS)).toBe(false);
    }
  });

  it('reports nothing after a busy start, in which periods arrive only in pairs', () => {
    const batchedDelivery = createBatchedDelivery(PERIOD, 24_000);
    for (let at = 1; at < 600; at++) {
      const isBusy = at * PERIOD_MS < 20_000;
      if (isBusy && at % 2 === 1) continue;
      expect(batchedDelivery.note(isBusy ? 2 * PERIOD : PERIOD, at * PERIOD_MS)).toBe(false);
    }
  });

  it('reports nothing on a machine so busy that hardly a period arrives alone', () => {
    const batchedDelivery = createBatchedDelivery(PERIOD, 24_000);
    const sizes = [2, 3, 2, 2, 4];
    const late = [0, 150, 20, 250, 100];
    let at = 0;
    for (let turn = 0; turn < 400; turn++) {
      const size = sizes[turn % sizes.length] ?? 2;
      at += size * PERIOD_MS;
      expect(batchedDelivery.note(size * PERIOD, at + (late[(turn * 3) % late.length] ?? 0))).toBe(false);
    }
  });
});
