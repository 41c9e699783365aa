/** The health of a device over a day, as its page shows it. */
import { expect, it } from 'vitest';
import { createHealthRing, noteHealth, readHealth } from '../../../src/backend/fleet/health-ring.ts';
import { receivedHealthSchema } from '../../../src/fleet/health-message.ts';

const BEGIN = Date.UTC(2026, 10, 27, 10);
const MINUTE = 60_000;

it('adds up the speech that was lost in 5 minutes, and keeps the highest of the other figures', () => {
  const ring = createHealthRing();
  // Counted since the agent began, an hour before.
  for (const [minute, lostS, lagMs] of [
    [0, 10, 1],
    [1, 12, 7],
    [2, 15, 3],
    [6, 16, 2],
  ] as const) {
    const report = receivedHealthSchema.parse({
      boot_id: 'b',
      uptime_s: 3600 + 60 * minute,
      loop_lag_ms: { p99: lagMs },
      lanes: [{ id: 'main', speech_lost_ms: 1000 * lostS }],
    });
    noteHealth(ring, report, BEGIN + minute * MINUTE);
  }
  const { series } = readHealth(ring, BEGIN + 6 * MINUTE);
  expect(series.speechLostS.slice(-3)).toEqual([null, 2 + 3, 1]);
  expect(series.loopLagMs.slice(-3)).toEqual([null, 7, 2]);
});
