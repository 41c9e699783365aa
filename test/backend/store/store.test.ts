/** The contract of the store, on both databases. */
import { expect, it } from 'vitest';
import { SCHEMA_VERSION } from '../../../src/backend/store/migrations.ts';
import { createPostgresEngine } from '../../../src/backend/store/postgres-engine.ts';
import {
  type DeviceBook,
  FINE,
  type MintRow,
  type SessionRow,
  type SessionToRevoke,
  type Store,
  StoreDown,
  StoreRefused,
} from '../../../src/ports/store.ts';
import { onBothStores } from './both-stores.ts';
import { PASSWORD } from './postgres-server.ts';

/** All intervals are so long that none of them passes during a test, however slow the machine is. */
const HOUR_MS = 3_600_000;

const mint = (now: number, more: Partial<MintRow> = {}): MintRow => ({
  lane: 'main',
  request: 'r1',
  state: 'making',
  instance: 'a',
  leaseUntil: now + HOUR_MS,
  askedAt: now - 5,
  endsAt: Number.POSITIVE_INFINITY,
  session: null,
  freshUntil: 0,
  recheckAt: null,
  ...more,
});
const session = (now: number, more: Partial<SessionRow> = {}): SessionRow => ({
  id: 's1',
  lane: 'main',
  madeAt: now,
  windowUntil: now + HOUR_MS,
  endsAt: now + 2 * HOUR_MS,
  overAt: now + 3 * HOUR_MS,
  isRollover: false,
  isPending: true,
  isUnknown: true,
  state: 'live',
  ...more,
});
const bookOf = (store: Store, device = 'museum/a'): Promise<DeviceBook> =>
  store.change(device, (book) => ({ change: {}, result: book }));
const write = (store: Store, rows: (now: number) => { mints?: MintRow[]; sessions?: SessionRow[] }) =>
  store.change('museum/a', (_book, now) => ({ change: rows(now), result: now }));

onBothStores((maker) => {
  it('gives rows back as they were written, to every backend, and after a restart', async () => {
    const database = await maker.make();
    const first = database.store();
    const now = await write(first, (at) => ({
      mints: [
        mint(at),
        mint(at, { request: 'r2', state: 'made', session: 's1', endsAt: at + 7, recheckAt: at }),
      ],
      sessions: [session(at), session(at, { id: 's2', overAt: Number.POSITIVE_INFINITY, isRollover: true })],
    }));
    const expected = {
      mints: [
        mint(now),
        mint(now, { request: 'r2', state: 'made', session: 's1', endsAt: now + 7, recheckAt: now }),
      ],
      sessions: [
        session(now),
        session(now, { id: 's2', overAt: Number.POSITIVE_INFINITY, isRollover: true }),
      ],
    };
    expect(await bookOf(database.store())).toEqual(expected);
    expect(await bookOf(first, 'museum/other')).toEqual({ mints: [], sessions: [] });
    await first.close();
    expect(await bookOf(database.store())).toEqual(expected);
  });

  it('decides on one device after the other when two backends decide at once', async () => {
    const database = await maker.make();
    const stores = [database.store(), database.store()];
    const attempts = Array.from({ length: 40 }, (_, index) =>
      stores[index % 2]?.change('museum/a', ({ sessions }, now) =>
        sessions.length >= 5
          ? { change: {}, result: false }
          : { change: { sessions: [session(now, { id: `s${index}` })] }, result: true },
      ),
    );
    expect((await Promise.all(attempts)).filter(Boolean)).toHaveLength(5);
    expect((await bookOf(database.store())).sessions).toHaveLength(5);
  });

  it('changes nothing when a decision fails', async () => {
    const store = (await maker.make()).store();
    await write(store, (now) => ({ sessions: [session(now)] }));
    const failing = store.change('museum/a', () => {
      throw new Error('a fault of ours');
    });
    await expect(failing).rejects.toThrow('a fault of ours');
    // A second row with the key of another device's session.
    const broken = write(store, (now) => ({
      mints: [mint(now)],
      sessions: [session(now, { id: 's9', state: null as unknown as 'live' })],
    }));
    await expect(broken).rejects.toThrow();
    expect(await bookOf(store)).toMatchObject({ mints: [], sessions: [{ id: 's1' }] });
  });

  it('counts unused sessions of all devices', async () => {
    const store = (await maker.make()).store();
    const now = await write(store, (at) => ({
      sessions: [
        session(at),
        session(at, { id: 's2', isUnknown: false, windowUntil: at + HOUR_MS / 2 }),
        session(at, { id: 's3', isPending: false }),
        session(at, { id: 's4', windowUntil: at - 1 }),
      ],
    }));
    const count = () =>
      store.changeCounted('museum/b', (_book, _now, unused) => ({ change: {}, result: unused }));
    expect(await count()).toEqual({
      all: { count: 2, firstUntil: now + HOUR_MS / 2 },
      unknown: { count: 1, firstUntil: now + HOUR_MS },
    });
    // Requests count while they are worked on, and after a death as long as something may be left of them.
    const add = (device: string, mints: MintRow[]) =>
      store.change(device, () => ({ change: { mints }, result: null }));
    await add('museum/a', [mint(now), mint(now, { request: 'r2', state: 'over' })]);
    await add('museum/new', [mint(now), mint(now, { request: 'r2', state: 'over', recheckAt: now })]);
    const { all, unknown } = await count();
    expect([all.count, unknown.count]).toEqual([5, 3]);
  });

  it('gives a condition to the first backend that tells it, and only when it is another one', async () => {
    const database = await maker.make();
    const [one, two] = [database.store(), database.store()];
    expect(await one.tell('museum/a', 'lost')).toBe(true);
    expect(await two.tell('museum/a', 'lost')).toBe(false);
    expect(await two.tell('museum/a', 'degraded')).toBe(true);
    expect(await one.tell('museum/a', 'degraded')).toBe(false);
    expect(await one.tell('museum/a', FINE)).toBe(true);
    expect(await two.tell('museum/a', FINE)).toBe(false);
  });

  it('counts for one backend after the other', async () => {
    const database = await maker.make();
    const stores = [database.store(), database.store()];
    const claims = Array.from({ length: 40 }, (_, index) =>
      stores[index % 2]?.changeCounted(`museum/${index}`, (_book, now, { all }) =>
        all.count >= 10 ? { change: {}, result: false } : { change: { mints: [mint(now)] }, result: true },
      ),
    );
    expect((await Promise.all(claims)).filter(Boolean)).toHaveLength(10);
  });

  it('goes on soon when a machine disappears that holds the lock of all', async ({ skip }) => {
    const { config, store } = await maker.make();
    if (!('url' in config)) return skip('SQLite is on one machine');
    const other = store();
    const count = () =>
      other.changeCounted('museum/a', (_book, _now, { all }) => ({ change: {}, result: all }));
    await count();
    const gone = createPostgresEngine({ url: config.url, password: () => PASSWORD, waitMs: 500 });
    let [begin, free] = [(): void => {}, (): void => {}];
    const begun = new Promise<void>((resolve) => {
      begin = resolve;
    });
    const hang = (): Promise<void> => {
      begin();
      return new Promise((resolve) => {
        free = resolve;
      });
    };
    const work = gone.transact('unused', hang).catch((error: unknown) => error);
    await begun;
    expect((await count()).count).toBe(0);
    free();
    expect(await work).toBeInstanceOf(StoreDown);
    await gone.close();
  });

  it('is refused when its server is older than PostgreSQL 15, and works with 15.0', async ({ skip }) => {
    const { config, engine } = await maker.make();
    if (!('url' in config)) return skip('SQLite has no version');
    const owner = engine();
    const order = (text: string) => owner.transact(null, (sql) => sql.query(text));
    await order('CREATE SCHEMA old');
    // Found before the server's own function.
    const path = encodeURIComponent('-c search_path=old,pg_catalog,public');
    const answerOf = async (version: number) => {
      await order(
        `CREATE OR REPLACE FUNCTION old.current_setting(text) RETURNS text LANGUAGE sql AS $$ SELECT '${version}' $$`,
      );
      const url = `${config.url}?options=${path}`;
      const backend = createPostgresEngine({ url, password: () => PASSWORD });
      const answer = backend.transact(null, (sql) => sql.query('SELECT 1 AS one'));
      return answer.catch((error: unknown) => error).finally(() => backend.close());
    };
    const refusal = await answerOf(149_999);
    expect(refusal).toBeInstanceOf(StoreRefused);
    expect(String(refusal)).toContain('the store needs PostgreSQL 15 or newer: upgrade the server');
    expect(await answerOf(150_000)).toEqual([{ one: 1 }]);
    await order('DROP SCHEMA old CASCADE');
    await owner.close();
  });

  it('extends the leases of one backend that are not over', async () => {
    const store = (await maker.make()).store();
    const now = await write(store, (at) => ({
      mints: [
        mint(at),
        mint(at, { request: 'dead', leaseUntil: at - 1 }),
        mint(at, { request: 'other', instance: 'b' }),
      ],
    }));
    await store.renew('a', 5 * HOUR_MS);
    const later = await write(store, () => ({}));
    const leases = new Map((await bookOf(store)).mints.map((row) => [row.request, row.leaseUntil]));
    expect([leases.get('dead'), leases.get('other')]).toEqual([now - 1, now + HOUR_MS]);
    expect(leases.get('r1')).toBeGreaterThanOrEqual(now + 5 * HOUR_MS);
    expect(leases.get('r1')).toBeLessThanOrEqual(later + 5 * HOUR_MS);
  });

  it('gives each abandoned request to one backend, after a time of grace, and again later', async () => {
    const database = await maker.make();
    const stores = [database.store(), database.store(), database.store()];
    await write(database.store(), (at) => ({
      mints: [
        mint(at),
        mint(at, { request: 'grace', leaseUntil: at - 1000 }),
        ...Array.from({ length: 30 }, (_, index) =>
          mint(at, { request: `dead-${index}`, leaseUntil: at - 3 * HOUR_MS }),
        ),
      ],
    }));
    const take = async () =>
      (await Promise.all(stores.map((store) => store.takeAbandoned(2 * HOUR_MS, HOUR_MS, 100)))).flat();
    const taken = [...(await take()), ...(await take())].map(({ request }) => request);
    expect(taken).toHaveLength(30);
    expect(new Set(taken).size).toBe(30);
    expect(taken).not.toContain('grace');
    const { mints } = await bookOf(database.store());
    expect(mints.find(({ request }) => request === 'dead-7')?.state).toBe('over');
    expect(mints.find(({ request }) => request === 'grace')?.state).toBe('making');
    // Whoever does not finish the work leaves it to others.
    await write(database.store(), () => ({
      mints: mints.map((row) => ({ ...row, recheckAt: row.recheckAt && 1 })),
    }));
    expect(await take()).toHaveLength(30);
  });

  it('gives each session that is still leaving to one backend, not at once', async () => {
    const database = await maker.make();
    const now = Date.now();
    const take = async (at: number): Promise<SessionToRevoke[]> => {
      const stores = [database.storeAt(at), database.storeAt(at)];
      return (await Promise.all(stores.map((one) => one.takeLeaving(HOUR_MS, 10)))).flat();
    };
    await write(database.storeAt(now), (at) => ({
      sessions: [session(at), session(at, { id: 'left', state: 'leaving' })],
    }));
    // Its own backend has this long to revoke it.
    expect(await take(now + 2999)).toEqual([]);
    expect(await take(now + 3000)).toEqual([{ device: 'museum/a', id: 'left' }]);
    expect(await take(now + 3000)).toEqual([]);
  });

  it('names the devices that had a session', async () => {
    const store = (await maker.make()).store();
    await write(store, (at) => ({ sessions: [session(at)] }));
    await store.change('museum/only-asked', (_book, at) => ({ change: { mints: [mint(at)] }, result: null }));
    expect(await store.knownDevices(10)).toEqual(['museum/a']);
  });

  it('deletes rows when no limit counts them any more', async () => {
    const database = await maker.make();
    const store = database.store();
    await write(store, (at) => ({
      mints: [mint(at, { askedAt: at - 8_000_000 })],
      sessions: [session(at, { madeAt: at - 8_000_000, overAt: at - 7_900_000 }), session(at, { id: 's2' })],
    }));
    await store.prune();
    const engine = database.engine();
    const left = await engine.transact(null, async (sql) => [
      ...(await sql.query('SELECT request FROM mint')),
      ...(await sql.query('SELECT id FROM session')),
    ]);
    await engine.close();
    expect(left.map((row) => row['id'] ?? row['request'])).toEqual(['s2']);
  });

  it('is created once when several backends start at the same time', async () => {
    const database = await maker.make();
    const stores = [database.store(), database.store(), database.store()];
    await Promise.all(stores.map((store) => store.open()));
    const engine = database.engine();
    const rows = await engine.transact(null, (sql) => sql.query('SELECT version FROM schema_version'));
    await engine.close();
    expect(rows).toEqual([{ version: SCHEMA_VERSION }]);
  });

  it('refuses a store of a newer program, in words, and leaves it alone', async () => {
    const database = await maker.make();
    await database.store().open();
    const engine = database.engine();
    await engine.transact(null, (sql) => sql.query('UPDATE schema_version SET version = 99'));
    const older = database.store();
    await expect(older.open()).rejects.toThrow(StoreRefused);
    await expect(bookOf(older)).rejects.toThrow(/has version 99.*only up to \d+: run the newer program/);
    const rows = await engine.transact(null, (sql) => sql.query('SELECT version FROM schema_version'));
    await engine.close();
    expect(rows).toEqual([{ version: 99 }]);
  });

  it('says that it is down when it is, and works again after its return', async () => {
    const { server } = maker;
    const store = (await maker.make()).store();
    await write(store, (at) => ({ sessions: [session(at)] }));
    if (server === null) {
      await store.close();
      await expect(bookOf(store)).rejects.toThrow(StoreDown);
      return;
    }
    await server.stop();
    const error = await bookOf(store).catch((fault: unknown) => fault);
    expect(error).toBeInstanceOf(StoreDown);
    expect(String(error)).toMatch(/the store at 127\.0\.0\.1:\d+\/store_\d+ cannot be used/);
    await server.start();
    expect((await bookOf(store)).sessions).toHaveLength(1);
  });
});
