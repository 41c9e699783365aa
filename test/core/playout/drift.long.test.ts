import { describe, expect, it } from 'vitest';
import { lags } from './drifting-loudspeaker.ts';

describe('hours of sound without any pause', () => {
  it('do not fall behind a loudspeaker that is slower than the microphone', () => {
    const most = lags(240, 600, { quickens: true });
    expect(Math.max(...most)).toBeLessThan(1000);
    // What it holds in the end is not more than in the second hour.
    expect(Math.max(...most.slice(-60))).toBeLessThan(Math.max(...most.slice(60, 120)) + 5);
  });
});
