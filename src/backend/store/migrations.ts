/** The tables, as numbered migration steps. Steps are only ever added: an older program refuses tables with a newer number. */
import { StoreRefused } from '../../ports/store.ts';
import { LONGEST_CLAIM_MS } from './ledger.ts';
import type { Sql, SqlEngine } from './sql-engine.ts';

type Dialect = SqlEngine['dialect'];
type Step = readonly string[] | ((dialect: Dialect) => readonly string[]);

const KEPT = 'the ledger is append-only';
const SQLITE_APPEND_ONLY = ['UPDATE', 'DELETE'].map(
  (act) =>
    `CREATE TRIGGER ledger_no_${act.toLowerCase()} BEFORE ${act} ON ledger BEGIN SELECT RAISE(ABORT, '${KEPT}'); END`,
);
const POSTGRES_APPEND_ONLY = [
  `CREATE FUNCTION ledger_is_kept() RETURNS trigger LANGUAGE plpgsql AS
   $$ BEGIN RAISE EXCEPTION '${KEPT}'; END $$`,
  `CREATE TRIGGER ledger_kept BEFORE UPDATE OR DELETE OR TRUNCATE ON ledger
   FOR EACH STATEMENT EXECUTE FUNCTION ledger_is_kept()`,
];

/** Lifts the append-only protection of the ledger for a migration. */
function changingLedger(dialect: Dialect, statements: readonly string[]): string[] {
  return dialect === 'sqlite'
    ? ['DROP TRIGGER ledger_no_update', ...statements, SQLITE_APPEND_ONLY[0] ?? '']
    : [
        'ALTER TABLE ledger DISABLE TRIGGER ledger_kept',
        ...statements,
        'ALTER TABLE ledger ENABLE TRIGGER ledger_kept',
      ];
}

/** PostgreSQL accepts no NUL in a text: lane and session are then stored in hexadecimal, so that nothing is lost. */
const MARK_NUL = `UPDATE ledger SET claimed = coalesce(claimed, CAST(ms AS TEXT)), lane = '?' || hex(lane), session = '?' || hex(session)
  WHERE source = 'device' AND (instr(lane, char(0)) > 0 OR instr(session, char(0)) > 0)`;

export const STEPS: readonly Step[] = [
  [
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
  ],
  (dialect) => [
    `CREATE TABLE ledger (
      id TEXT PRIMARY KEY, at BIGINT NOT NULL, device TEXT NOT NULL, lane TEXT NOT NULL, session TEXT NOT NULL,
      source TEXT NOT NULL, ms BIGINT)`,
    'CREATE INDEX ledger_at ON ledger (at)',
    ...(dialect === 'sqlite' ? SQLITE_APPEND_ONLY : POSTGRES_APPEND_ONLY),
    // Streams of these sessions will still be reported, under the shortened id (src/protocol/short-id.ts).
    `INSERT INTO ledger (id, at, device, lane, session, source, ms)
     SELECT 'given/' || id, made_at, device, lane,
       substr(id, 1, CASE WHEN length(id) < 16 THEN length(id) / 2 ELSE 8 END) || '...', 'backend', ends_at - made_at
     FROM session WHERE state = 'live'`,
  ],
  ['CREATE TABLE told (subject TEXT PRIMARY KEY, what TEXT NOT NULL)'],
  [
    `CREATE TABLE person (
      name TEXT PRIMARY KEY, role TEXT NOT NULL, password_hash TEXT NOT NULL, since BIGINT NOT NULL, seen_at BIGINT)`,
    `CREATE TABLE console_session (
      id TEXT PRIMARY KEY, person TEXT NOT NULL, used_at BIGINT NOT NULL, ends_at BIGINT NOT NULL)`,
    'CREATE INDEX console_session_person ON console_session (person)',
    `CREATE TABLE audit (
      id TEXT PRIMARY KEY, at BIGINT NOT NULL, who TEXT NOT NULL, address TEXT NOT NULL, what TEXT NOT NULL,
      target TEXT, args TEXT NOT NULL, ended_at BIGINT, is_ok INTEGER, result TEXT)`,
    'CREATE INDEX audit_at ON audit (at)',
    `CREATE TABLE console_job (
      id TEXT PRIMARY KEY, at BIGINT NOT NULL, ended_at BIGINT, instance TEXT NOT NULL, lease_until BIGINT NOT NULL,
      body TEXT NOT NULL)`,
    'CREATE INDEX console_job_at ON console_job (at)',
    `CREATE TABLE conversation (
      id TEXT PRIMARY KEY, at BIGINT NOT NULL, device TEXT NOT NULL, duration_s BIGINT NOT NULL, sentences BIGINT NOT NULL,
      delay_ms BIGINT, billed_s BIGINT NOT NULL, languages TEXT NOT NULL)`,
    'CREATE INDEX conversation_at ON conversation (at)',
  ],
  [
    `CREATE TABLE rollout (
      id TEXT PRIMARY KEY, revision BIGINT NOT NULL, instance TEXT NOT NULL, lease_until BIGINT NOT NULL,
      body TEXT NOT NULL)`,
  ],
  // Limits old reports, which older programs wrote unchecked.
  (dialect) => [
    'ALTER TABLE ledger ADD COLUMN claimed TEXT',
    ...changingLedger(dialect, [
      `UPDATE ledger SET claimed = CAST(ms AS TEXT), ms = ${LONGEST_CLAIM_MS} WHERE source = 'device' AND ms > ${LONGEST_CLAIM_MS}`,
      ...(dialect === 'sqlite' ? [MARK_NUL] : []),
    ]),
    'CREATE INDEX ledger_device ON ledger (device, at)',
    'CREATE INDEX conversation_device ON conversation (device, at)',
    'CREATE TABLE implausible (id TEXT PRIMARY KEY, device TEXT NOT NULL, day BIGINT NOT NULL, reports BIGINT NOT NULL)',
  ],
  ['CREATE TABLE sign_in_attempt (name TEXT PRIMARY KEY, since BIGINT NOT NULL, count INTEGER NOT NULL)'],
  ['CREATE TABLE config_claim (target TEXT PRIMARY KEY, holder TEXT NOT NULL, lease_until BIGINT NOT NULL)'],
];

export const SCHEMA_VERSION = STEPS.length;

/** A newer program created the tables. */
export class StoreTooNew extends StoreRefused {}

/** Brings the tables to this program's version. Instances that start together wait for each other. */
export async function migrate(engine: SqlEngine, steps = STEPS): Promise<void> {
  await engine.transact('migration', (sql) => upgrade(sql, engine.dialect, steps));
}

/** Tests reading and writing without a lasting change. @returns the version of the tables; 0: there are none yet */
export async function tryStore(engine: SqlEngine): Promise<number> {
  return engine.transact('migration', async (sql) => {
    const tables = await sql.query(
      engine.dialect === 'sqlite'
        ? "SELECT name FROM sqlite_schema WHERE name = 'schema_version'"
        : "SELECT 1 WHERE to_regclass('schema_version') IS NOT NULL",
    );
    const version = tables.length === 0 ? 0 : await versionOf(sql);
    checkVersion(version, STEPS.length);
    await sql.query('SAVEPOINT tried');
    // Upgrading tables in use would block the programs that use them.
    if (version === 0) await upgrade(sql, engine.dialect, STEPS);
    else await sql.query('UPDATE schema_version SET version = version');
    await sql.query('ROLLBACK TO SAVEPOINT tried');
    return version;
  });
}

async function upgrade(sql: Sql, dialect: Dialect, steps: readonly Step[]): Promise<void> {
  await sql.query('CREATE TABLE IF NOT EXISTS schema_version (version INTEGER NOT NULL)');
  const version = await versionOf(sql);
  checkVersion(version, steps.length);
  if (version === steps.length) return;
  for (const step of steps.slice(version)) {
    const statements = typeof step === 'function' ? step(dialect) : step;
    for (const statement of statements) await sql.change(statement);
  }
  await sql.query('DELETE FROM schema_version');
  await sql.query('INSERT INTO schema_version (version) VALUES (?)', [steps.length]);
}

function checkVersion(version: number, newest: number): void {
  if (version <= newest) return;
  const sentence = `the store has version ${version}, and this program knows only up to ${newest}`;
  throw new StoreTooNew(`${sentence}: run the newer program that made it, or restore a backup`);
}

async function versionOf(sql: Sql): Promise<number> {
  const [row] = await sql.query('SELECT version FROM schema_version');
  return Number(row?.['version'] ?? 0);
}
