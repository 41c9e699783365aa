/** Stores of older programs, with data, on both databases. */
import { expect, it } from 'vitest';
import { dump, load } from '../../../src/backend/store/copy.ts';
import { migrate, SCHEMA_VERSION, STEPS } from '../../../src/backend/store/migrations.ts';
import type { SqlRow, SqlValue } from '../../../src/backend/store/sql-engine.ts';
import type { LedgerEntry } from '../../../src/ports/store.ts';
import { shortId } from '../../../src/protocol/short-id.ts';
import { deviceSum } from '../bill/bill-lines.ts';
import { type Database, onBothStores } from './both-stores.ts';

/** What the first program made: never changed, because such files exist. */
const VERSION_1 = [
  'CREATE TABLE schema_version (version INTEGER NOT NULL)',
  'INSERT INTO schema_version (version) VALUES (1)',
  `CREATE TABLE mint (
    device TEXT NOT NULL, lane TEXT NOT NULL, request TEXT NOT NULL,
    state TEXT NOT NULL, instance TEXT NOT NULL, lease_until BIGINT NOT NULL,
    asked_at BIGINT NOT NULL, ends_at BIGINT, session TEXT, fresh_until BIGINT NOT NULL, recheck_at BIGINT)`,
  'CREATE UNIQUE INDEX mint_request ON mint (device, lane, request)',
  "CREATE INDEX mint_making ON mint (lease_until) WHERE state = 'making'",
  'CREATE INDEX mint_recheck ON mint (recheck_at) WHERE recheck_at IS NOT NULL',
  `CREATE TABLE session (
    id TEXT PRIMARY KEY, device TEXT NOT NULL, lane TEXT NOT NULL, made_at BIGINT NOT NULL,
    window_until BIGINT NOT NULL, ends_at BIGINT, over_at BIGINT, is_rollover INTEGER NOT NULL,
    is_pending INTEGER NOT NULL, is_unknown INTEGER NOT NULL, state TEXT NOT NULL, retry_at BIGINT NOT NULL)`,
  'CREATE INDEX session_device ON session (device, made_at)',
  'CREATE INDEX session_pending ON session (window_until) WHERE is_pending = 1',
  "CREATE INDEX session_leaving ON session (retry_at) WHERE state = 'leaving'",
  'CREATE TABLE device (name TEXT PRIMARY KEY, known_since BIGINT NOT NULL)',
];
const MINUTE = 60_000;
const ALWAYS = [0, 8_000_000_000_000] as const;
const ID = '0b1946f7-32c2-4dc6-9a52-d9cd9ae3df2a';

async function run(
  database: Database,
  statements: readonly (readonly [string, ...SqlValue[]])[],
): Promise<void> {
  const engine = database.engine();
  await engine.transact(null, async (sql) => {
    for (const [statement, ...values] of statements) await sql.query(statement, values);
  });
  await engine.close();
}
async function ledgerOf(database: Database): Promise<SqlRow[]> {
  const engine = database.engine();
  const rows = await engine.transact(null, (sql) => sql.query('SELECT * FROM ledger ORDER BY id'));
  await engine.close();
  return rows;
}
const reported = (session: string, ms: number): LedgerEntry => ({
  id: `device/${session}`,
  device: 'museum/a',
  lane: 'main',
  session: shortId(session),
  source: 'device',
  ms,
});

onBothStores((maker) => {
  it('keeps requests, sessions and limits of version 1, and bills the streams that end later', async () => {
    const database = await maker.make();
    const now = Date.now();
    const [soon, end] = [now + MINUTE, now + 30 * MINUTE];
    const session = 'INSERT INTO session VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)';
    await run(database, [
      ...VERSION_1.map((statement) => [statement] as const),
      [
        'INSERT INTO mint VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)',
        'museum/a',
        'main',
        'r1',
        'made',
        'old',
        now,
        now,
        end,
        ID,
        soon,
        null,
      ],
      [session, ID, 'museum/a', 'main', now, soon, end, end + MINUTE, 0, 1, 1, 'live', now],
      [session, 'short', 'museum/a', 'main', now, soon, null, null, 0, 0, 1, 'live', now],
      [session, 'revoked', 'museum/a', 'main', now, soon, end, end, 0, 0, 1, 'gone', now],
      ['INSERT INTO device VALUES (?, ?)', 'museum/a', now],
    ]);
    const store = database.store();
    const book = await store.change('museum/a', (rows) => ({ change: {}, result: rows }));
    expect(book.mints).toMatchObject([{ request: 'r1', state: 'made', session: ID, freshUntil: soon }]);
    expect(book.sessions.map(({ id, state }) => `${id} ${state}`).sort()).toEqual([
      `${ID} live`,
      'revoked gone',
      'short live',
    ]);
    expect(await store.knownDevices(10)).toEqual(['museum/a']);
    for (const entry of [reported(ID, 10 * MINUTE), reported('short', MINUTE)]) await store.append(entry);
    expect(await store.sums(...ALWAYS)).toEqual([deviceSum('museum/a', { sessions: 2, ms: 11 * MINUTE })]);
  });

  it('keeps the bill of every later version', async () => {
    for (let version = 2; version < SCHEMA_VERSION; version += 1) {
      const database = await maker.make();
      const engine = database.engine();
      await migrate(engine, STEPS.slice(0, version));
      await engine.close();
      const line =
        'INSERT INTO ledger (id, at, device, lane, session, source, ms) VALUES (?, ?, ?, ?, ?, ?, ?)';
      await run(database, [
        [line, `given/${ID}`, 5, 'museum/a', 'main', shortId(ID), 'backend', 30 * MINUTE],
        [line, `device/${ID}`, 6, 'museum/a', 'main', shortId(ID), 'device', 7 * MINUTE],
      ]);
      const store = database.store();
      expect(await store.sums(...ALWAYS), `version ${version}`).toMatchObject([
        { device: 'museum/a', sessions: 1, ms: 7 * MINUTE },
      ]);
      // The next start finds the new version.
      expect(await database.store().append({ ...reported(ID, 1), id: `device/${ID}` })).toBe(false);
    }
  });

  it('marks what devices claimed without limits, so that bill, backup and restore work, and deletes nothing', async () => {
    const database = await maker.make();
    const isSqlite = 'path' in database.config;
    const engine = database.engine();
    await migrate(engine, STEPS.slice(0, 5));
    await engine.close();
    const line = 'INSERT INTO ledger VALUES (?, ?, ?, ?, ?, ?, ?)';
    const device = (id: string, lane: string, session: string, ms: number) =>
      [line, id, 6, 'museum/a', lane, session, 'device', ms] as const;
    // Two of these overflow a sum of SQLite; the next one no reader can hold, nor any database but SQLite the last one.
    const claims = [9e18, 9e18, 1e16, ...(isSqlite ? [1e19] : [])];
    await run(database, [
      ...[line, line, line].map((insert, index) => {
        const [session, ms] =
          [
            ['s1', 30 * MINUTE],
            ['s2', 30 * MINUTE],
            ['s3', null],
          ][index] ?? [];
        return [
          insert,
          `given/${session}`,
          5,
          'museum/a',
          'main',
          session ?? '',
          'backend',
          ms ?? null,
        ] as const;
      }),
      device('d1', 'main', 's1', 7 * MINUTE),
      ...claims.map((ms, index) => device(`d${index + 2}`, 'main', index < 2 ? 's2' : 's3', ms)),
      ...(isSqlite ? [device('nul', 'main', 's1', MINUTE)] : []),
    ]);
    if (isSqlite) {
      // As a newer Node writes it; others end the text at the NUL.
      const raw = database.engine();
      await raw.transact(null, (sql) =>
        sql.query(
          "INSERT INTO ledger SELECT 'nul2', 6, device, 'ma' || char(0) || 'in', session, source, ms FROM ledger WHERE id = 'nul'",
        ),
      );
      await raw.close();
    }
    const store = database.store();
    const month = 31 * 86_400_000;
    const expected = [
      deviceSum('museum/a', {
        sessions: 3,
        // 7 minutes, the limit of the second, and what is left of the claims on a session without a limit.
        ms: 37 * MINUTE + (isSqlite ? MINUTE : 0) + month * (claims.length - 2),
        implausible: isSqlite ? 3 : 2,
      }),
    ];
    expect(await store.sums(...ALWAYS)).toEqual(expected);
    const [rows, lines] = [await ledgerOf(database), [] as string[]];
    expect(rows.map(({ claimed }) => claimed).filter((claimed) => claimed !== null)).toHaveLength(
      claims.length + (isSqlite ? 1 : 0),
    );
    expect(rows.filter(({ claimed }) => Number(claimed) === 9e18)).toHaveLength(2);
    expect(rows.find(({ id }) => id === 'nul2')).toEqual(
      isSqlite ? expect.objectContaining({ lane: '?6D6100696E', claimed: String(MINUTE) }) : undefined,
    );
    const saved = database.engine();
    await dump(saved, (text) => lines.push(text));
    await expect(saved.transact(null, (sql) => sql.query('UPDATE ledger SET ms = 1'))).rejects.toThrow(
      /append-only/,
    );
    await saved.close();
    const restored = (await maker.make()) as Database;
    const target = restored.engine();
    await load(target, lines);
    await target.close();
    expect(await restored.store().sums(...ALWAYS)).toEqual(expected);
  });

  it('marks the same in a backup of an older program', async () => {
    const database = await maker.make();
    const row = (id: string, ms: number, more: object = {}) =>
      JSON.stringify({
        table: 'ledger',
        row: { id, at: 5, device: 'museum/a', lane: 'main', session: 's1', source: 'device', ms, ...more },
      });
    const target = database.engine();
    await load(target, [
      '{"version":5}',
      row('given', 30 * MINUTE, { source: 'backend' }),
      row('big', 1e19),
      row('nul', MINUTE, { lane: 'ma\0in' }),
      row('good', MINUTE),
    ]);
    await target.close();
    expect(await ledgerOf(database)).toMatchObject([
      { id: 'big', ms: 31 * 86_400_000, claimed: '10000000000000000000' },
      { id: 'given', claimed: null },
      { id: 'good', ms: MINUTE, claimed: null },
      { id: 'nul', lane: '?6D6100696E', claimed: String(MINUTE) },
    ]);
  });
});
