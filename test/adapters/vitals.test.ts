import { afterEach, describe, expect, it, vi } from 'vitest';
import { createSystemClock } from '../../src/adapters/clock.ts';
import { createVitals } from '../../src/adapters/vitals.ts';
import { createVirtualClock } from '../virtual-clock.ts';

describe('the vitals of this process', () => {
  afterEach(() => vi.useRealTimers());

  it('are read from the machine', () => {
    const read = createVitals(createSystemClock(), '/nowhere');
    const { rssBytes, cpuSeconds, temperatureC, loopLagMs } = read();
    expect(rssBytes).toBeGreaterThan(2e7);
    expect(cpuSeconds).toBeGreaterThan(0);
    expect([temperatureC, loopLagMs]).toEqual([null, null]);
  });

  it('have the delays of the timers of the last hour', () => {
    vi.useFakeTimers();
    const clock = createVirtualClock();
    const read = createVitals(clock, '/nowhere');
    const late = (ms: number): void => {
      clock.stall(2000 + ms);
      vi.advanceTimersByTime(2000);
    };
    for (const ms of [300, 0, 100, 200, 0]) late(ms);
    expect(read().loopLagMs).toEqual({ p50: 100, p99: 200 });
    for (let sample = 0; sample < 100; sample++) late(300);
    for (let sample = 0; sample < 1800; sample++) late(5.04);
    expect(read().loopLagMs).toEqual({ p50: 5, p99: 5 });
  });
});
