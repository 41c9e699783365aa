import { afterEach, describe, expect, it } from 'vitest';
import type { Condition } from '../../../src/backend/fleet/condition.ts';
import { type Change, createNotices, HOLDS_MS, type Notices } from '../../../src/backend/watch/notices.ts';
import { StoreDown } from '../../../src/ports/store.ts';
import { createVirtualClock } from '../../virtual-clock.ts';
import { onBothStores } from '../store/both-stores.ts';

const open: Notices[] = [];
afterEach(async () => {
  await Promise.all(open.splice(0).map((notices) => notices.close()));
});

onBothStores((maker) => {
  describe('notices to people', () => {
    /** Backends that share a store and see the same devices. */
    const start = async (database?: Awaited<ReturnType<typeof maker.make>>, backends = 1) => {
      const shared = database ?? (await maker.make());
      const clock = createVirtualClock();
      const conditions = new Map<string, Condition>();
      const changes: Change[] = [];
      const failures: unknown[] = [];
      let fault: Error | null = null;
      const running = new Set<Promise<unknown>>();
      const seen = <T>(work: Promise<T>): Promise<T> => {
        running.add(work);
        return work.finally(() => running.delete(work));
      };
      const stores = Array.from({ length: backends }, () => {
        const store = shared.store();
        return {
          told: () => seen(store.told()),
          tell: (...about: Parameters<typeof store.tell>) =>
            seen(fault === null ? store.tell(...about) : Promise.reject(fault)),
        };
      });
      const all = stores.map((store) =>
        createNotices({
          store,
          clock,
          conditionOf: (subject) => conditions.get(subject) ?? null,
          tell: (change) => changes.push(change),
          storeFailed: (error) => failures.push(error),
        }),
      );
      open.push(...all);
      const settled = async (): Promise<void> => {
        while (running.size > 0) {
          await Promise.allSettled(running);
          await clock.elapse(0);
        }
      };
      await settled();
      return {
        shared,
        clock,
        changes,
        failures,
        /** From now on the store fails like this; null: it works. */
        fail(how: Error | null): void {
          fault = how;
        },
        set(subject: string, condition: Condition): void {
          conditions.set(subject, condition);
          for (const notices of all) notices.look(subject);
        },
        /** Lets all looks that are due reach the store. */
        async pass(ms: number): Promise<void> {
          await clock.elapse(ms);
          await settled();
        },
        close: () => Promise.all(all.map((notices) => notices.close())),
      };
    };

    it('sends one notice for each change, and none for further reports', async () => {
      const { set, pass, changes } = await start();
      for (let report = 0; report < 20; report += 1) {
        set('museum/a', 'lost');
        await pass(HOLDS_MS / 2);
      }
      expect(changes).toEqual([{ subject: 'museum/a', condition: 'lost', before: 'fine' }]);
      set('museum/a', 'degraded');
      await pass(HOLDS_MS);
      set('museum/a', 'fine');
      await pass(HOLDS_MS);
      await pass(HOLDS_MS);
      expect(changes.slice(1)).toEqual([
        { subject: 'museum/a', condition: 'degraded', before: 'lost' },
        { subject: 'museum/a', condition: 'fine', before: 'degraded' },
      ]);
    });

    it('is not told when the trouble was over within 30 s', async () => {
      const { set, pass, changes } = await start();
      set('museum/a', 'lost');
      await pass(HOLDS_MS - 1);
      set('museum/a', 'fine');
      await pass(HOLDS_MS);
      expect(changes).toEqual([]);
    });

    it('sends a notice from one of two backends, and not again after a restart', async () => {
      const first = await start(undefined, 2);
      first.set('museum/a', 'lost');
      await first.pass(HOLDS_MS);
      expect(first.changes).toHaveLength(1);
      await first.close();
      const second = await start(first.shared, 2);
      second.set('museum/a', 'lost');
      await second.pass(2 * HOLDS_MS);
      expect(second.changes).toEqual([]);
      second.set('museum/a', 'fine');
      await second.pass(HOLDS_MS);
      await expect
        .poll(() => second.changes)
        .toEqual([{ subject: 'museum/a', condition: 'fine', before: 'lost' }]);
    });

    it('waits for a device that has reported nothing since the restart', async () => {
      const first = await start();
      first.set('museum/a', 'lost');
      await first.pass(HOLDS_MS);
      await first.close();
      const second = await start(first.shared);
      await second.pass(10 * HOLDS_MS);
      expect(second.changes).toEqual([]);
      second.set('museum/a', 'fine');
      await second.pass(HOLDS_MS);
      expect(second.changes).toHaveLength(1);
    });

    it('sends the notice later when the store cannot be used', async () => {
      const { set, pass, fail, changes, failures } = await start();
      fail(new StoreDown('away'));
      set('museum/a', 'lost');
      await pass(HOLDS_MS);
      expect([changes, failures.length]).toEqual([[], 1]);
      fail(null);
      await pass(HOLDS_MS);
      expect(changes).toHaveLength(1);
    });
  });
});

/** Notices at a store that answers when the test lets it. @param told what was reported before the start */
function openAlone(told: ReadonlyMap<string, string>) {
  const clock = createVirtualClock();
  const conditions = new Map<string, Condition>();
  const changes: Change[] = [];
  const failures: unknown[] = [];
  const store = { fault: null as Error | null, answers: Promise.resolve() };
  const answer = async <T>(value: T): Promise<T> => {
    await store.answers;
    if (store.fault !== null) throw store.fault;
    return value;
  };
  const start = () => {
    const notices = createNotices({
      store: { told: () => answer(new Map(told)), tell: () => answer(true) },
      clock,
      conditionOf: (subject) => conditions.get(subject) ?? null,
      tell: (change) => changes.push(change),
      storeFailed: (error) => failures.push(error),
    });
    open.push(notices);
    return notices;
  };
  return { clock, conditions, changes, failures, store, start };
}
const RECOVERED = { subject: 'museum/a', condition: 'fine', before: 'lost' };

describe('a recovery while the backend was away', () => {
  it('is reported when the device has said so before the store answers', async () => {
    const { clock, conditions, changes, store, start } = openAlone(new Map([['museum/a', 'lost']]));
    let answer = (): void => {};
    store.answers = new Promise((resolve) => {
      answer = resolve;
    });
    const notices = start();
    conditions.set('museum/a', 'fine');
    notices.look('museum/a');
    answer();
    await clock.elapse(0);
    await clock.elapse(HOLDS_MS);
    expect(changes).toEqual([RECOVERED]);
  });

  it('is reported when the store could not be used at the start', async () => {
    const { clock, conditions, changes, failures, store, start } = openAlone(new Map([['museum/a', 'lost']]));
    store.fault = new StoreDown('away');
    const notices = start();
    await clock.elapse(1000);
    conditions.set('museum/a', 'fine');
    notices.look('museum/a');
    expect(failures).toHaveLength(1);
    store.fault = null;
    await clock.elapse(2 * HOLDS_MS);
    expect(changes).toEqual([RECOVERED]);
  });
});

it('sends no notice after the end of the backend', async () => {
  const { clock, conditions, changes, start } = openAlone(new Map());
  const notices = start();
  await clock.elapse(0);
  conditions.set('museum/a', 'lost');
  notices.look('museum/a');
  expect(clock.armed).toBe(1);
  await notices.close();
  expect(clock.armed).toBe(0);
  notices.look('museum/a');
  await clock.elapse(2 * HOLDS_MS);
  expect(changes).toEqual([]);
});
