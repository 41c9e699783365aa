/** Writes the lasting rows of a store as lines of JSON, and loads them into an empty store on either database. */
import { StoreRefused } from '../../ports/store.ts';
import { LONGEST_CLAIM_MS } from './ledger.ts';
import { migrate, SCHEMA_VERSION } from './migrations.ts';
import type { Sql, SqlEngine, SqlRow, SqlValue } from './sql-engine.ts';

/** Saved tables with their keys. Left out: requests (`mint`), which last only minutes, and sign-in sessions of the console. */
const TABLES = {
  device: 'name',
  session: 'id',
  ledger: 'id',
  person: 'name',
  audit: 'id',
  conversation: 'id',
  implausible: 'id',
} as const;
type Table = keyof typeof TABLES;
const isTable = (name: unknown): name is Table => typeof name === 'string' && Object.hasOwn(TABLES, name);

const ROWS_AT_ONCE = 5000;

/** Writes a consistent snapshot. @param line called for each line, without the line break */
export async function dump(engine: SqlEngine, line: (text: string) => void): Promise<number> {
  await migrate(engine);
  return engine.transact(null, async (sql) => {
    if (engine.dialect === 'postgres') await sql.query('SET TRANSACTION ISOLATION LEVEL REPEATABLE READ');
    line(JSON.stringify({ version: SCHEMA_VERSION }));
    let count = 0;
    for (const [table, key] of Object.entries(TABLES)) {
      for (let last: SqlValue = ''; ; ) {
        const rows: SqlRow[] = await sql.query(
          `SELECT * FROM ${table} WHERE ${key} > ? ORDER BY ${key} LIMIT ${ROWS_AT_ONCE}`,
          [last],
        );
        for (const row of rows) line(JSON.stringify({ table, row }));
        count += rows.length;
        if (rows.length < ROWS_AT_ONCE) break;
        last = rows.at(-1)?.[key] ?? '';
      }
    }
    return count;
  });
}

/** @throws StoreRefused if the store is not empty or the lines are not a backup; then nothing has changed */
export async function load(engine: SqlEngine, lines: Iterable<string>): Promise<number> {
  await migrate(engine);
  return engine.transact('migration', async (sql) => {
    for (const table of Object.keys(TABLES)) {
      const [row] = await sql.query(`SELECT count(*) AS count FROM ${table}`);
      if (Number(row?.['count']) > 0)
        throw new StoreRefused('the store is not empty: restore into a new one, so that nothing is mixed');
    }
    let count = -1;
    for (const text of lines) {
      if (text === '') continue;
      if (count === -1) checkVersion(text);
      else await insert(sql, text, count + 2);
      count += 1;
    }
    if (count === -1) throw new StoreRefused('the backup is empty: take another one');
    return count;
  });
}

function checkVersion(text: string): void {
  const { version } = read(text, 1) as { version?: unknown };
  if (typeof version !== 'number')
    throw new StoreRefused('line 1 of the backup has no version: it is not a backup');
  if (version > SCHEMA_VERSION)
    throw new StoreRefused(
      `the backup has version ${version}: restore it with the newer program that made it`,
    );
}

async function insert(sql: Sql, text: string, number: number): Promise<void> {
  const { table, row } = read(text, number) as { table?: unknown; row?: unknown };
  if (!isTable(table) || typeof row !== 'object' || row === null) throw damaged(number);
  const plausible = table === 'ledger' ? plausibleLine(row as SqlRow) : (row as SqlRow);
  const columns = Object.keys(plausible);
  if (columns.length === 0 || !columns.every((name) => /^[a-z_]+$/.test(name))) throw damaged(number);
  const marks = columns.map(() => '?').join(', ');
  await sql.query(`INSERT INTO ${table} (${columns.join(', ')}) VALUES (${marks})`, Object.values(plausible));
}

/** A backup of an older program may contain unlimited claims of devices: they are limited and marked as in the migration. */
function plausibleLine(row: SqlRow): SqlRow {
  const { source, ms = null, lane, session } = row;
  if (source !== 'device') return row;
  const isLong = Number(ms) > LONGEST_CLAIM_MS;
  const isText = [lane, session].every((text) => !String(text).includes('\0'));
  if (!isLong && isText) return row;
  const marked = { ...row, claimed: String(ms), ms: isLong ? LONGEST_CLAIM_MS : ms };
  return isText ? marked : { ...marked, lane: hexOf(lane), session: hexOf(session) };
}

const hexOf = (text: SqlValue | undefined): string =>
  `?${Buffer.from(String(text)).toString('hex').toUpperCase()}`;

function read(text: string, number: number): object {
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value === 'object' && value !== null) return value;
  } catch {}
  throw damaged(number);
}

const damaged = (number: number): StoreRefused =>
  new StoreRefused(`line ${number} of the backup is damaged: nothing was restored; take another backup`);
