import { expect, it } from 'vitest';
import { runRollovers } from './day.ts';

/** @param least this many sessions must have given way to the next one */
export function testMinuteSessions(hours: number, least: number): void {
  it('sessions of a minute lose nothing and leave no gap', async () => {
    const rollover = await runRollovers(1, hours);
    expect(rollover).toMatchObject({ lost_ms: 0, violations: 0 });
    expect(rollover.rollovers).toBeGreaterThan(least);
    expect(rollover.gap_longest_ms).toBeLessThan(1000);
    expect(rollover.overlap_mean_ms).toBeLessThan(10_000);
  });
}
