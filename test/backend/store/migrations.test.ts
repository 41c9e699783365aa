/** Stores of older programs, with data, on both databases. */
import { expect, it } from 'vitest';
import { migrate, SCHEMA_VERSION, STEPS } from '../../../src/backend/store/migrations.ts';
import type { SqlValue } from '../../../src/backend/store/sql-engine.ts';
import type { LedgerEntry } from '../../../src/ports/store.ts';
import { shortId } from '../../../src/protocol/short-id.ts';
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
const reported = (session: string, ms: number): LedgerEntry => ({
  ...{ id: `device/${session}`, device: 'museum/a', lane: 'main', session: shortId(session) },
  ...{ source: 'device', ms },
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
        ...['museum/a', 'main', 'r1', 'made', 'old', now, now, end, ID, soon, null],
      ],
      [session, ...[ID, 'museum/a', 'main', now, soon, end, end + MINUTE, 0, 1, 1, 'live', now]],
      [session, ...['short', 'museum/a', 'main', now, soon, null, null, 0, 0, 1, 'live', now]],
      [session, ...['revoked', 'museum/a', 'main', now, soon, end, end, 0, 0, 1, 'gone', now]],
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
    expect(await store.sums(...ALWAYS)).toEqual([
      {
        ...{ device: 'museum/a', sessions: 2, ms: 11 * MINUTE },
        ...{ unreported: 0, unreportedMs: 0, implausible: 0 },
      },
    ]);
  });

  it('keeps the bill of every later version', async () => {
    for (let version = 2; version < SCHEMA_VERSION; version += 1) {
      const database = await maker.make();
      const engine = database.engine();
      await migrate(engine, STEPS.slice(0, version));
      await engine.close();
      const line = 'INSERT INTO ledger VALUES (?, ?, ?, ?, ?, ?, ?)';
      await run(database, [
        [line, `given/${ID}`, 5, 'museum/a', 'main', shortId(ID), 'backend', 30 * MINUTE],
        [line, `device/${ID}`, 6, 'museum/a', 'main', shortId(ID), 'device', 7 * MINUTE],
      ]);
      const store = database.store();
      expect(await store.sums(...ALWAYS), `version ${version}`).toMatchObject([
        { device: 'museum/a', sessions: 1, ms: 7 * MINUTE },
      ]);
      expect(await store.append({ ...reported(ID, 1), id: `device/${ID}` })).toBe(false);
    }
  });
});
