/** The reconciler with a real store, in virtual time. */
import { expect, it } from 'vitest';
import { createLogger } from '../../../src/adapters/log.ts';
import { startReconciler } from '../../../src/backend/issuing/reconciler.ts';
import { createServiceJobs } from '../../../src/backend/issuing/service-jobs.ts';
import type { ServiceClient } from '../../../src/backend/service/service-client.ts';
import { ServiceFailure } from '../../../src/backend/service/service-failure.ts';
import { createSqlStore } from '../../../src/backend/store/sql-store.ts';
import { createSqliteEngine } from '../../../src/backend/store/sqlite-engine.ts';
import type { MintRow, Store } from '../../../src/ports/store.ts';
import { MEMORY_STORE } from '../../../src/protocol/backend-config.ts';
import { createVirtualClock } from '../../virtual-clock.ts';

const LONG_AGO_MS = 60_000;

it('looks at every lane, and at none again, when the service has no list of sessions', async () => {
  const clock = createVirtualClock();
  const store = createSqlStore(createSqliteEngine(MEMORY_STORE));
  const names = ['one', 'two', 'three'];
  for (const name of names)
    await store.change(`museum/${name}`, (_book, now) => {
      const row: MintRow = {
        lane: 'main',
        request: 'r1',
        state: 'over',
        instance: 'dead',
        session: null,
        freshUntil: 0,
        leaseUntil: now - LONG_AGO_MS,
        askedAt: now - LONG_AGO_MS,
        endsAt: now,
        recheckAt: now,
      };
      return { change: { mints: [row] }, result: undefined };
    });
  const listed: string[] = [];
  const client = {
    async listSessions({ clientReferenceId }: { clientReferenceId: string }) {
      listed.push(clientReferenceId);
      // docs/service.md gives no path for a list.
      const trouble = { kind: 'rejected', detail: null, retryAfterS: null } as const;
      throw new ServiceFailure(trouble, 404, 'cannot list sessions: HTTP 404');
    },
  } as unknown as ServiceClient;
  const log = createLogger({ level: 'trace', format: 'json', sink: { write() {} } });
  const reconciler = startReconciler({
    store,
    service: createServiceJobs({ service: client, log, random: Math.random }),
    instance: 'a',
    settledMs: 1000,
    clock,
    log,
    complain: () => {},
    isMinting: () => false,
  });
  await clock.elapse(10_000);
  await reconciler.close();
  expect(clock.armed).toBe(0);
  expect(listed.sort()).toEqual(names.map((name) => `museum/${name}/main`).sort());
  for (const name of names) {
    const [row] = await store.change(`museum/${name}`, (book) => ({ change: {}, result: book.mints }));
    expect(row?.recheckAt, name).toBeNull();
  }
  await store.close();
});

it('extends the leases of its backend three times in the length of one, while it works on requests', async () => {
  const clock = createVirtualClock();
  const log = createLogger({ level: 'trace', format: 'json', sink: { write() {} } });
  const renewed: [instance: string, leaseMs: number][] = [];
  let isMinting = true;
  const nothing = async (): Promise<[]> => [];
  const store = {
    renew: async (...about: [string, number]) => void renewed.push(about),
    takeAbandoned: nothing,
    takeLeaving: nothing,
  } as Partial<Store> as Store;
  const reconciler = startReconciler({
    store,
    service: createServiceJobs({ service: {} as ServiceClient, log, random: Math.random }),
    instance: 'a',
    settledMs: 1000,
    clock,
    log,
    complain: () => {},
    isMinting: () => isMinting,
  });
  await clock.elapse(3000);
  expect(renewed).toEqual(Array(3).fill(['a', 3000]));
  isMinting = false;
  await clock.elapse(3000);
  expect(renewed).toHaveLength(3);
  await reconciler.close();
  expect(clock.armed).toBe(0);
});
