import { describe, expect, it } from 'vitest';
import { createDice } from './dice.ts';
import { createRecovery } from './recovery.ts';
import { API_KEY, createServiceHost } from './service-host.ts';
import { createSimClock } from './sim-clock.ts';
import { watchStrikes } from './strikes.ts';
import { createViolations } from './violations.ts';
import type { World } from './world.ts';

const ASLEEP_MS = 540_000;

async function serviceWithStrikes() {
  const clock = createSimClock(1000);
  const watch = { heard: () => {}, overrun: () => {}, rendered: () => {} };
  const host = createServiceHost(clock, createDice(1), 'spec', {}, watch);
  const strikes: [string, number, number][] = [];
  watchStrikes(host.service.faults, (kind, forMs) => void strikes.push([kind, forMs, clock.now()]));
  return { clock, host, strikes };
}

describe('a fault that waits for the next connection', () => {
  it('strikes when a lane connects after standby', async () => {
    const { clock, host, strikes } = await serviceWithStrikes();
    host.fault({ kind: 'slow_upgrade', ms: 30_000 });
    host.fault({ kind: 'drop' });
    host.fault({ kind: 'refuse', reason: 'forbidden' });
    await clock.run(ASLEEP_MS);
    expect(strikes).toEqual([]);
    expect(host.upgradeDelayMs()).toBe(30_000);
    expect(host.open(API_KEY)).toMatchObject({ kind: 'refused' });
    expect(host.open(API_KEY)).toMatchObject({ kind: 'opened' });
    expect(strikes).toEqual([
      ['slow_upgrade', 30_000, ASLEEP_MS],
      ['refuse', 0, ASLEEP_MS],
      ['drop', 0, ASLEEP_MS],
    ]);
  });

  it('excuses losses after it strikes, and none after it was only ordered', () => {
    const clock = createSimClock(1000);
    const world = { clock, violations: createViolations(() => clock.now()), onTurn: () => {} };
    const { happened, mayLose } = createRecovery(world as unknown as World, ['slow_upgrade']);
    happened({ kind: 'slow_upgrade', begun: 1000, over: 1000 });
    expect(mayLose(ASLEEP_MS, 'main')).toBe(false);
    happened({ kind: 'slow_upgrade', begun: ASLEEP_MS, over: ASLEEP_MS + 30_000 });
    expect(mayLose(ASLEEP_MS, 'main')).toBe(true);
  });
});
