/** The contract of the roll-out's store, on both databases. */
import { expect, it } from 'vitest';
import { createRolloutStore } from '../../../src/backend/store/rollout-store.ts';
import type { RolloutStore } from '../../../src/ports/rollout-store.ts';
import { onBothStores } from './both-stores.ts';

const HOUR = 3_600_000;

onBothStores((maker) => {
  const withTwo = async (use: (one: RolloutStore, other: RolloutStore) => Promise<void>): Promise<void> => {
    const database = await maker.make();
    const stores = [createRolloutStore(database.engine()), createRolloutStore(database.engine())] as const;
    try {
      await use(...stores);
    } finally {
      await Promise.all(stores.map((store) => store.close()));
    }
  };

  it('keeps one roll-out, which a second one replaces only if it has not changed', async () => {
    await withTwo(async (one, other) => {
      expect(await one.current()).toBeNull();
      expect(await one.drive('a', HOUR)).toBeNull();
      const begun = await Promise.all([
        one.replace(null, { id: 'r1', body: '{"a":1}' }),
        other.replace(null, { id: 'r2', body: '{"a":2}' }),
      ]);
      expect(begun.filter(Boolean)).toHaveLength(1);
      const first = await other.current();
      expect(first).toMatchObject({ revision: 1, isDriven: false });
      expect(await one.save(first ?? { id: '', revision: 0 }, '{"a":3}')).toBe(2);
      expect(await other.replace(first, { id: 'r3', body: '{}' })).toBe(false);
      const changed = await other.current();
      expect(changed).toMatchObject({ id: first?.id, revision: 2, body: '{"a":3}' });
      expect(await other.replace(changed, { id: 'r3', body: '{}' })).toBe(true);
      expect(await one.current()).toMatchObject({ id: 'r3', revision: 1 });
      expect(await one.save({ id: changed?.id ?? '', revision: 2 }, '{}')).toBeNull();
    });
  });

  it('takes one of two changes that are made at once', async () => {
    await withTwo(async (one, other) => {
      await one.replace(null, { id: 'r1', body: '{}' });
      const key = { id: 'r1', revision: 1 };
      const revisions = await Promise.all([one.save(key, '{"by":1}'), other.save(key, '{"by":2}')]);
      expect(revisions.sort()).toEqual([2, null].sort());
    });
  });

  it('lets one instance drive it until its lease ends or it leaves', async () => {
    await withTwo(async (one, other) => {
      await one.replace(null, { id: 'r1', body: '{}' });
      const [a, b] = await Promise.all([one.drive('a', HOUR), other.drive('b', HOUR)]);
      expect([a, b].filter((key) => key !== null)).toEqual([{ id: 'r1', revision: 1 }]);
      const [holder, waiter] = a === null ? (['b', 'a'] as const) : (['a', 'b'] as const);
      expect(await one.drive(holder, HOUR)).not.toBeNull();
      expect(await one.drive(waiter, HOUR)).toBeNull();
      expect((await one.current())?.isDriven).toBe(true);
      await other.leave(waiter);
      expect(await one.drive(waiter, HOUR)).toBeNull();
      await other.leave(holder);
      expect((await one.current())?.isDriven).toBe(false);
      expect(await one.drive(waiter, -1)).not.toBeNull();
      // Its next step extends the lease, also a lease that has ended.
      expect(await one.drive(waiter, HOUR)).not.toBeNull();
      expect(await one.drive(holder, HOUR)).toBeNull();
      await one.drive(waiter, -1);
      expect(await one.drive(holder, HOUR)).not.toBeNull();
    });
  });
});
