import { afterEach, expect, it } from 'vitest';
import { watchBudgets } from '../../../src/backend/watch/group-budgets.ts';
import { type Store, StoreDown } from '../../../src/ports/store.ts';
import { backendConfigSchema } from '../../../src/protocol/backend-config.ts';
import { createVirtualClock } from '../../virtual-clock.ts';
import { deviceSum } from '../bill/bill-lines.ts';

const ZONE = process.env['TZ'];
afterEach(() => {
  if (ZONE === undefined) delete process.env['TZ'];
  else process.env['TZ'] = ZONE;
});

const config = backendConfigSchema.parse({
  mqtt: { url: 'mqtt://127.0.0.1:1' },
  service: { url: 'http://127.0.0.1:1', streamUrl: 'wss://stream.example' },
  allow: ['museum/*'],
  groups: [
    { name: 'halls', members: ['museum/*'], minutesPerMonth: 100 },
    { name: 'unlimited', members: ['museum/*'] },
  ],
});

it.each(['Pacific/Auckland', 'America/New_York'])(
  'counts a month of UTC, from its first to its last moment, when the machine is in %s',
  async (zone) => {
    process.env['TZ'] = zone;
    const end = Date.parse('2026-11-01T00:00:00Z');
    const clock = createVirtualClock(0, end - 1);
    const asked: string[] = [];
    const changed: string[] = [];
    const sums: Store['sums'] = async (from, to) => {
      asked.push([from, to].map((at) => new Date(at).toISOString().slice(0, 10)).join(' '));
      return [deviceSum('museum/a', { sessions: 1, ms: 100 * 60_000 })];
    };
    const budgets = watchBudgets({
      config,
      store: { sums } as Partial<Store> as Store,
      clock,
      changed: (group: string) => void changed.push(group),
      storeFailed: () => {},
    });
    await clock.elapse(0);
    await clock.elapse(600_000);
    expect(asked).toEqual(['2026-10-01 2026-11-01', '2026-11-01 2026-12-01']);
    expect(changed).toEqual(['halls', 'halls']);
    expect(budgets.lines).toMatchObject([{ name: 'halls', warning: 'over_budget' }]);
    await budgets.close();
    expect(clock.armed).toBe(0);
  },
);

it('looks again when the store has failed, and knows nothing until then', async () => {
  const clock = createVirtualClock();
  const failures: unknown[] = [];
  let isDown = true;
  const sums: Store['sums'] = async () => {
    if (isDown) throw new StoreDown('away');
    return [];
  };
  const budgets = watchBudgets({
    config,
    store: { sums } as Partial<Store> as Store,
    clock,
    changed: () => {},
    storeFailed: (error) => failures.push(error),
  });
  await clock.elapse(0);
  expect(budgets.areKnown).toBe(false);
  await clock.elapse(600_000);
  expect([budgets.areKnown, failures.length]).toEqual([false, 2]);
  isDown = false;
  await clock.elapse(600_000);
  expect([budgets.areKnown, failures.length]).toEqual([true, 2]);
  await budgets.close();
});

it('lets a slow database rest for a hundred times as long, and asks nothing after its end', async () => {
  const clock = createVirtualClock();
  let asked = 0;
  const sums: Store['sums'] = () => {
    asked += 1;
    return new Promise((resolve) => void clock.at(clock.now() + 20_000, () => resolve([])));
  };
  const budgets = watchBudgets({
    config,
    store: { sums } as Partial<Store> as Store,
    clock,
    changed: () => {},
    storeFailed: () => {},
  });
  await clock.elapse(20_000 + 1_999_999);
  expect(asked).toBe(1);
  await clock.elapse(1);
  expect(asked).toBe(2);
  const closing = budgets.close();
  await clock.elapse(20_000);
  await closing;
  expect(clock.armed).toBe(0);
});
