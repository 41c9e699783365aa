import { describe, expect, it } from 'vitest';
import { lags } from './drifting-loudspeaker.ts';

describe('hours of sound without any pause', () => {
  it('keep their delay when the loudspeaker is slower than the microphone', () => {
    const most = lags(240, 600, { quickens: true });
    expect(Math.max(...most)).toBeLessThan(1000);
    // At the end no more sound waits than in the second hour.
    expect(Math.max(...most.slice(-60))).toBeLessThan(Math.max(...most.slice(60, 120)) + 5);
  });
});
