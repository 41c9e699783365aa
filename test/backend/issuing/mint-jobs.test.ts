/** What becomes of a device's sessions in the store when the service has ended them, or has not. */
import { afterEach, expect, it } from 'vitest';
import { createLogger } from '../../../src/adapters/log.ts';
import { createMintJobs } from '../../../src/backend/issuing/mint-jobs.ts';
import type { ServiceJobs } from '../../../src/backend/issuing/service-jobs.ts';
import { createSqlStore } from '../../../src/backend/store/sql-store.ts';
import { createSqliteEngine } from '../../../src/backend/store/sqlite-engine.ts';
import type { SessionRow, Store } from '../../../src/ports/store.ts';
import { MEMORY_STORE } from '../../../src/protocol/backend-config.ts';

const WHO = { tenant: 'museum', device: 'kiosk' };
let store: Store | null = null;
afterEach(() => store?.close());

/** Two sessions that are being revoked, at a service that can end these. */
async function openJobs(ended: readonly string[]) {
  const opened = createSqlStore(createSqliteEngine(MEMORY_STORE));
  store = opened;
  await opened.change('museum/kiosk', (_book, now) => {
    const row = (id: string): SessionRow => ({
      id,
      lane: 'main',
      madeAt: now,
      windowUntil: now + 60_000,
      endsAt: now + 600_000,
      overAt: now + 660_000,
      isRollover: false,
      isPending: true,
      isUnknown: false,
      state: 'leaving',
    });
    return { change: { sessions: [row('a'), row('b')] }, result: null };
  });
  const service: Partial<ServiceJobs> = {
    revoke: async (_who, ids) => ids.filter((id) => ended.includes(id)),
    endSessions: async ({ job }) => ({ event: { type: 'ended', job, draw: 0 }, gone: ended }),
  };
  const jobs = createMintJobs({
    store: opened,
    service: service as ServiceJobs,
    instance: 'here',
    complain: () => {},
    log: createLogger({ level: 'trace', format: 'json', sink: { write() {} } }),
    random: () => 0,
  });
  const states = async () => {
    const { sessions } = await opened.change('museum/kiosk', (book) => ({ change: {}, result: book }));
    return sessions.map(({ id, state, isPending }) => `${id} ${state}${isPending ? ' unused' : ''}`);
  };
  return { jobs, states };
}

it('revoked ones are gone, and the others count again', async () => {
  const { jobs, states } = await openJobs(['b']);
  await jobs.revoke({ type: 'revoke', who: WHO, ids: ['a', 'b'] });
  expect(await states()).toEqual(['a live unused', 'b gone']);
});

it('unused ones that were ended are gone', async () => {
  const { jobs, states } = await openJobs(['a']);
  const end = { type: 'end', job: 7, who: WHO, lane: 'main', request: 'r1', sessionId: null } as const;
  expect(await jobs.end(end)).toEqual({ type: 'ended', job: 7, draw: 0 });
  expect(await states()).toEqual(['a gone', 'b leaving unused']);
});

it('one that no device has heard of is left to the reconciler when the service does not end it', async () => {
  const { jobs, states } = await openJobs(['b']);
  for (const id of ['a', 'b']) await jobs.discard({ type: 'discard', who: WHO, id });
  expect(await states()).toEqual(['a leaving unused', 'b gone']);
});
