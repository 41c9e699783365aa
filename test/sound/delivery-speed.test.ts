import { describe, expect, it } from 'vitest';
import { createDeliverySpeed } from '../../src/sound/delivery-speed.ts';

const RATE_HZ = 24_000;
const PIECE = 7680;

/** Delivers pieces of 320 ms at the device's speed. @returns when it was found too fast, milliseconds from the start */
function foundAfter(speed: number, seconds: number, lateMs: (at: number) => number = () => 0): number | null {
  const judge = createDeliverySpeed(RATE_HZ);
  let seen = 0;
  for (let at = 320; at < seconds * 1000; at += 320 / speed) {
    seen = Math.max(seen, at + lateMs(at));
    if (judge.note(PIECE, seen)) return seen;
  }
  return null;
}

describe('the speed of a delivery', () => {
  it.each([0.5, 0.99, 1, 1.0003, 1.05])('is accepted at %d times real time', (speed) => {
    expect(foundAfter(speed, 120)).toBeNull();
  });

  it.each([1.2, 1.5, 4])('is a fault at %d times real time, after a few seconds', (speed) => {
    expect(foundAfter(speed, 60)).toBeLessThan(6000);
  });

  it('is a fault at once when a device delivers without limit', () => {
    const judge = createDeliverySpeed(RATE_HZ);
    let delivered = 0;
    while (!judge.note(PIECE, 1000)) delivered += PIECE;
    expect(delivered).toBeLessThanOrEqual(10 * RATE_HZ + PIECE);
    expect(createDeliverySpeed(RATE_HZ).note(11 * RATE_HZ, 0)).toBe(true);
  });

  it('is accepted when a blocked event loop reads seconds at once, at the start or later', () => {
    const blocked = (at: number): number => {
      const inBlock = at % 10_000;
      return inBlock < 3000 ? 3000 - inBlock : 0;
    };
    expect(foundAfter(1, 120, blocked)).toBeNull();
  });
});
