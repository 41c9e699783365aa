/** Which rows the store gives, counts and deletes, a moment before and after they matter, on both databases. */
import { expect, it } from 'vitest';
import { createConsoleStore } from '../../../src/backend/store/console-store.ts';
import type { MintRow, SessionRow, Store } from '../../../src/ports/store.ts';
import { onBothStores } from './both-stores.ts';

const NOW = Date.UTC(2026, 9, 31, 23, 30);
const HOUR = 3_600_000;
const NEVER = Number.POSITIVE_INFINITY;

const session = (id: string, more: Partial<SessionRow> = {}): SessionRow => ({
  id,
  lane: 'main',
  madeAt: NOW,
  windowUntil: NOW + 60_000,
  endsAt: NOW + HOUR,
  overAt: NOW + HOUR,
  isRollover: false,
  isPending: true,
  isUnknown: false,
  state: 'live',
  ...more,
});
const mint = (request: string, more: Partial<MintRow> = {}): MintRow => ({
  lane: 'main',
  request,
  state: 'over',
  instance: 'a',
  leaseUntil: NOW,
  askedAt: NOW,
  endsAt: NEVER,
  session: null,
  freshUntil: 0,
  recheckAt: null,
  ...more,
});
const write = (store: Store, rows: { mints?: MintRow[]; sessions?: SessionRow[] }, device = 'museum/a') =>
  store.change(device, () => ({ change: rows, result: null }));
const read = async (store: Store) => {
  const book = await store.change('museum/a', (rows) => ({ change: {}, result: rows }));
  return [...book.mints.map(({ request }) => request), ...book.sessions.map(({ id }) => id)];
};

onBothStores((maker) => {
  it('gives the requests of an hour, and the sessions of an hour and those that are not over', async () => {
    const database = await maker.make();
    const store = database.storeAt(NOW);
    await write(store, {
      mints: [mint('old', { askedAt: NOW - HOUR }), mint('recent', { askedAt: NOW - HOUR + 1 })],
      sessions: [
        session('old', { madeAt: NOW - HOUR, overAt: NOW }),
        session('recent', { madeAt: NOW - HOUR + 1, overAt: NOW - HOUR + 2 }),
        session('runs', { madeAt: NOW - 5 * HOUR, overAt: NOW + 1 }),
        session('for ever', { madeAt: NOW - 4 * HOUR, overAt: NEVER }),
      ],
    });
    expect(await read(store)).toEqual(['recent', 'runs', 'for ever', 'recent']);
  });

  it('deletes what is over for two hours, and neither what still runs nor what is to be checked', async () => {
    const database = await maker.make();
    const store = database.storeAt(NOW);
    const two = NOW - 2 * HOUR;
    await write(store, {
      mints: [
        mint('old', { askedAt: two - 1 }),
        mint('young', { askedAt: two }),
        mint('dead', { askedAt: two - 1, recheckAt: NOW }),
      ],
      sessions: [
        session('old', { madeAt: two - 1, overAt: two - 1 }),
        session('young', { madeAt: two - 1, overAt: two }),
        session('for ever', { madeAt: two - HOUR, overAt: NEVER }),
      ],
    });
    await store.prune();
    const engine = database.engine();
    const left = await engine.transact(null, async (sql) => [
      ...(await sql.query('SELECT request AS name FROM mint ORDER BY request')),
      ...(await sql.query('SELECT id AS name FROM session ORDER BY id')),
    ]);
    await engine.close();
    expect(left.map(({ name }) => name)).toEqual(['dead', 'young', 'for ever', 'young']);
  });

  it('names the devices that became known last', async () => {
    const database = await maker.make();
    const devices = ['museum/b', 'museum/a', 'museum/c'];
    for (const [index, device] of devices.entries())
      await write(database.storeAt(NOW + index), { sessions: [session(device)] }, device);
    // A later session does not make a device new.
    await write(database.storeAt(NOW + 9), { sessions: [session('again')] }, 'museum/b');
    expect(await database.store().knownDevices(2)).toEqual(['museum/c', 'museum/a']);
  });

  it('leaves out sessions that end by themselves, and takes no more than asked, the oldest first', async () => {
    const database = await maker.make();
    for (const [id, after] of [
      ['second', 2],
      ['first', 1],
      ['third', 3],
    ] as const)
      await write(database.storeAt(NOW + after), {
        sessions: [session(id, { state: 'leaving', overAt: NEVER })],
      });
    await write(database.storeAt(NOW), {
      sessions: [session('over', { state: 'leaving', overAt: NOW + 10_000 }), session('live')],
    });
    const take = async (most: number) =>
      (await database.storeAt(NOW + 10_000).takeLeaving(HOUR, most)).map(({ id }) => id);
    expect([await take(2), await take(5), await take(5)]).toEqual([['first', 'second'], ['third'], []]);
  });

  it('gives an abandoned request to one backend until the time is over in which it may look', async () => {
    const database = await maker.make();
    await write(database.storeAt(NOW), { mints: [mint('r1', { state: 'making', leaseUntil: NOW })] });
    const take = async (at: number) => (await database.storeAt(at).takeAbandoned(5000, 4000, 9)).length;
    expect([
      await take(NOW + 5000),
      await take(NOW + 5001),
      await take(NOW + 9000),
      await take(NOW + 9001),
    ]).toEqual([0, 1, 0, 1]);
  });

  it('extends a lease by its length from now, and none that has ended', async () => {
    const database = await maker.make();
    await write(database.storeAt(NOW), {
      mints: [
        mint('lives', { state: 'making', leaseUntil: NOW + 1 }),
        mint('dead', { state: 'making', leaseUntil: NOW }),
        mint('over', { leaseUntil: NOW + 1 }),
        mint('theirs', { state: 'making', instance: 'b', leaseUntil: NOW + 1 }),
      ],
    });
    const store = database.storeAt(NOW);
    await store.renew('a', 3000);
    const { mints } = await store.change('museum/a', (rows) => ({ change: {}, result: rows }));
    expect(Object.fromEntries(mints.map(({ request, leaseUntil }) => [request, leaseUntil - NOW]))).toEqual({
      lives: 3000,
      dead: 0,
      over: 1,
      theirs: 1,
    });
  });

  it('counts a conversation of the night on its day of UTC', async () => {
    const database = await maker.make();
    const talk = (id: string) =>
      ({
        id,
        device: 'museum/a',
        durationS: 60,
        sentences: 4,
        delayMs: 800,
        billedS: 50,
        languages: ['en'],
      }) as const;
    for (const [index, at] of [NOW, NOW + HOUR / 2 - 1, NOW + HOUR / 2].entries()) {
      const store = createConsoleStore({ ...database.engine(), now: String(at) });
      await store.addConversation(talk(`c${index}`), 9);
      await store.close();
    }
    const store = createConsoleStore(database.engine());
    const [from, to] = [Date.UTC(2026, 9, 31), Date.UTC(2026, 10, 1)];
    expect(await store.conversations(from, to + 86_400_000, 'day')).toMatchObject([
      { key: String(from / 86_400_000), conversations: 2 },
      { key: String(to / 86_400_000), conversations: 1 },
    ]);
    expect(await store.conversations(from, to, 'device')).toMatchObject([{ conversations: 2 }]);
    await store.close();
  });
});
