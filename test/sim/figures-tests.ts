import { expect, it } from 'vitest';
import { runRollovers } from './day.ts';

/** Tests runs with sessions of a minute. @param least rollovers that must be exceeded */
export function testMinuteSessions(hours: number, least: number): void {
  it('lose no speech and leave no gap when sessions last a minute', async () => {
    const rollover = await runRollovers(1, hours);
    expect(rollover).toMatchObject({ lost_ms: 0, violations: 0 });
    expect(rollover.rollovers).toBeGreaterThan(least);
    expect(rollover.gap_longest_ms).toBeLessThan(1000);
    expect(rollover.overlap_mean_ms).toBeLessThan(10_000);
  });
}
