/** Full disks, values that no database takes, and fail-overs, on both databases. */
import { expect, it } from 'vitest';
import { createSqlStore } from '../../../src/backend/store/sql-store.ts';
import { type SessionRow, type Store, StoreDown, ValueRefused } from '../../../src/ports/store.ts';
import { onBothStores } from './both-stores.ts';

const session = (now: number, more: Partial<SessionRow> = {}): SessionRow => ({
  id: 's1',
  lane: 'main',
  madeAt: now,
  windowUntil: now,
  endsAt: now,
  overAt: now,
  isRollover: false,
  isPending: true,
  isUnknown: true,
  state: 'live',
  ...more,
});
const write = (store: Store, rows: (now: number) => { sessions: SessionRow[] }) =>
  store.change('museum/a', (_book, now) => ({ change: rows(now), result: now }));

onBothStores((maker) => {
  it('fails its check when there is no room for what a grant writes, and leaves nothing behind', async () => {
    const database = await maker.make();
    const engine = database.engine();
    const store = createSqlStore(engine);
    await store.check();
    const count = () =>
      engine.transact(null, async (sql) => {
        const counts: number[] = [];
        for (const table of ['mint', 'session', 'ledger', 'device'])
          counts.push(Number((await sql.query(`SELECT count(*) AS count FROM ${table}`))[0]?.['count']));
        return counts;
      });
    const works = (work: Promise<unknown>) =>
      work.then(
        () => true,
        () => false,
      );
    expect(await count()).toEqual([0, 0, 0, 0]);
    let grants = 0;
    const grant = (): Promise<boolean> => {
      grants += 1;
      return works(write(store, (at) => ({ sessions: [session(at, { id: `${grants}`.repeat(9) })] })));
    };
    expect(await grant()).toBe(true);
    if (engine.dialect === 'sqlite') {
      // SQLite refuses to make the file longer, as on a full disk.
      await engine.transact(null, (sql) => sql.query('PRAGMA max_page_count = 1'));
      while ((await grant()) && grants < 1000);
    } else {
      await engine.transact(null, (sql) =>
        sql.query('ALTER TABLE session ADD CHECK (made_at < 5) NOT VALID'),
      );
    }
    await expect(store.check()).rejects.toThrow(/full|does not take a value/);
    const before = await count();
    expect(await grant()).toBe(false);
    expect(await count()).toEqual(before);
    await store.close();
  });

  it('says that a value is the cause when it is, and not the database', async () => {
    const database = await maker.make();
    const store = database.store();
    const broken = write(store, (at) => ({ sessions: [session(at, { state: null as unknown as 'live' })] }));
    await expect(broken).rejects.toThrow(ValueRefused);
    const fault = store.change('museum/a', () => {
      throw new TypeError('a fault of ours');
    });
    await expect(fault).rejects.toThrow(TypeError);
    if (maker.server === null) return;
    for (const more of [{ madeAt: 1e19 }, { lane: 'a\0b' }])
      await expect(write(store, (at) => ({ sessions: [session(at, more)] }))).rejects.toThrow(ValueRefused);
  });

  it('works after one failure when a fail-over has left its connections at a server that only reads', async ({
    skip,
  }) => {
    if (maker.server === null) return skip('SQLite has no server');
    const database = await maker.make();
    const engine = database.engine();
    const store = createSqlStore(engine);
    await store.open();
    let [arrived, free] = [0, (): void => {}];
    const all = new Promise<void>((resolve) => {
      free = resolve;
    });
    // All connections of the pool at once.
    await Promise.all(
      Array.from({ length: 8 }, () =>
        engine.transact(null, async (sql) => {
          await sql.query('SET SESSION CHARACTERISTICS AS TRANSACTION READ ONLY');
          arrived += 1;
          if (arrived === 8) free();
          await all;
        }),
      ),
    );
    const tries: string[] = [];
    for (let index = 0; index < 10; index += 1)
      tries.push(
        await write(store, (at) => ({ sessions: [session(at, { id: `s${index}` })] })).then(
          () => 'done',
          (error: unknown) => (error instanceof StoreDown ? 'down' : String(error)),
        ),
      );
    expect(tries).toEqual(['down', ...Array.from({ length: 9 }, () => 'done')]);
    await store.close();
  });
});
