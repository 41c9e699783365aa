import { describe, expect, it } from 'vitest';
import { createDevice, ramp } from './device.ts';

describe('a device whose pace is unknown', () => {
  it.each([
    ['does not report what it takes', { isMute: true }],
    ['begins so late that its pace is not trusted', { lateMs: 150 }],
  ])('is looked at three times a second at most when it %s', (_, setup) => {
    const { open, write, clock, of } = createDevice(setup);
    open();
    for (let second = 0; second < 20; second++) {
      write(ramp(1000));
      clock.advance(1000);
    }
    // Each write, its answer, and the tail of the last sound arrange a look, too.
    expect(of('look_at').length).toBeLessThan(20 * (3 + 1) + 10);
  });
});
