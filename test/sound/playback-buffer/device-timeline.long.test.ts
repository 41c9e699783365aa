import { describe, it } from 'vitest';
import { expectKnown } from './timed-device.ts';

describe('the time at which written sound is heard', () => {
  it.each([0, 300, -300])('is known for hours on a device that is off by %d ppm', (ppm) => {
    expectKnown(ppm, 2 * 3600);
  });
});
