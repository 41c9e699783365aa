/** PostgreSQL 15 or newer, for backends on several machines. */

import type { PoolClient } from 'pg';
import { reasonOf } from '../../adapters/system-error.ts';
import { StoreDown, StoreRefused, ValueRefused } from '../../ports/store.ts';
import type { Sql, SqlEngine, SqlRow, SqlValue } from './sql-engine.ts';

/** Timeout of a connection, a statement and another instance's lock (ms). A device repeats its request after 5 s. */
const WAIT_MS = 4000;
const OLDEST_VERSION = 150_000;
const MOST_CONNECTIONS = 8;
const BIGINT = 20;
/** Timeout of a change of the tables (ms). */
const LONGEST_CHANGE_MS = 3_600_000;

export interface PostgresOptions {
  /** `postgres://user@host:port/database`, without password. */
  readonly url: string;
  /** Read for each connection, so that a new password needs no restart. */
  readonly password?: () => string;
  /** Timeout (ms) instead of the default. */
  readonly waitMs?: number;
}

export function createPostgresEngine({ url, password, waitMs = WAIT_MS }: PostgresOptions): SqlEngine {
  const opening = openPool(url, password, waitMs);
  opening.catch(() => {});
  /** Counts the servers that were found to be shutting down or read-only. */
  let generation = 0;
  const born = new WeakMap<PoolClient, number>();
  let isChecked = false;
  let closing: Promise<void> | null = null;

  /** A connection to the present server: after a failover, older connections lead to a read-only server. */
  const connect = async (): Promise<PoolClient> => {
    for (;;) {
      try {
        const client = await (await opening).connect();
        if (!born.has(client)) born.set(client, generation);
        if (born.get(client) === generation) return client;
        client.release(true);
      } catch (error) {
        throw explain(error, url);
      }
    }
  };
  const transact = async <T>(lock: string | null, work: (sql: Sql) => Promise<T>): Promise<T> => {
    const client = await connect();
    let fault: Error | undefined;
    // Without a listener, a lost connection would crash the program.
    const lost = (error: Error): void => {
      fault = error;
    };
    client.on('error', lost);
    try {
      const run = async (query: { text: string; values?: SqlValue[]; query_timeout?: number }) => {
        try {
          return (await client.query(query)).rows as SqlRow[];
        } catch (error) {
          if (ENDED.test(codeOf(error))) {
            lost(error instanceof Error ? error : new Error('unknown reason'));
            generation = Math.max(generation, (born.get(client) ?? 0) + 1);
          }
          throw explain(error, url);
        }
      };
      const sql: Sql = {
        query: (text, values = []) => run({ text: numbered(text), values: [...values] }),
        async change(text) {
          await run({ text: 'SET LOCAL statement_timeout = 0' });
          await run({ text, query_timeout: LONGEST_CHANGE_MS });
          await run({ text: `SET LOCAL statement_timeout = ${waitMs}` });
        },
      };
      if (!isChecked) {
        const [row] = await sql.query("SELECT current_setting('server_version_num')::int AS version");
        if (Number(row?.['version']) < OLDEST_VERSION)
          throw new StoreRefused('the store needs PostgreSQL 15 or newer: upgrade the server');
        isChecked = true;
      }
      await sql.query('BEGIN');
      try {
        if (lock !== null) await takeLock(sql, lock);
        const result = await work(sql);
        await sql.query('COMMIT');
        return result;
      } catch (error) {
        await sql.query('ROLLBACK').catch((failure: Error) => lost(failure));
        throw error;
      }
    } finally {
      client.off('error', lost);
      client.release(fault);
    }
  };

  return {
    dialect: 'postgres',
    now: '(extract(epoch from clock_timestamp()) * 1000)::bigint',
    skipLocked: ' FOR UPDATE SKIP LOCKED',
    transact,
    lock: takeLock,
    async close() {
      closing ??= opening.then((pool) => pool.end());
      await closing;
    },
  };
}

async function takeLock(sql: Sql, name: string): Promise<void> {
  await sql.query('SELECT pg_advisory_xact_lock(hashtextextended(?, 47))', [name]);
}

async function openPool(url: string, password: (() => string) | undefined, waitMs: number) {
  const [{ default: pg }, { parseIntoClientConfig }] = await Promise.all([
    import('pg'),
    import('pg-connection-string'),
  ]);
  const pool = new pg.Pool({
    ...parseIntoClientConfig(url),
    ...(password && { password: () => password() }),
    max: MOST_CONNECTIONS,
    connectionTimeoutMillis: waitMs,
    query_timeout: waitMs + 1000,
    statement_timeout: waitMs,
    // The server must release the locks of a machine that has lost power: all other instances wait for them.
    idle_in_transaction_session_timeout: waitMs,
    application_name: 'dragoman-backend',
    types: {
      getTypeParser: ((id: number, format?: 'text') =>
        id === BIGINT ? Number : pg.types.getTypeParser(id, format)) as typeof pg.types.getTypeParser,
    },
  });
  // The pool replaces a lost idle connection at the next use.
  pool.on('error', () => {});
  return pool;
}

/** Turns `?` into `$1`, `$2`, ... No statement contains a question mark in a literal. */
function numbered(text: string): string {
  let count = 0;
  return text.replaceAll('?', () => {
    count += 1;
    return `$${count}`;
  });
}

/** SQLSTATEs of a server that is shutting down or read-only: another server may have taken over. */
const ENDED = /^(25006|57P0[123])$/;
/** SQLSTATEs caused by the values of a statement: numbers out of range, invalid characters, rows that exist already. */
const VALUE = /^2[23]/;
const codeOf = (error: unknown): string => String((error as { code?: unknown }).code ?? '');

/** Errors that a person must fix, by SQLSTATE. */
const LASTING: readonly (readonly [RegExp, string])[] = [
  [/^28/, 'correct the user in store.url, or store.passwordFile'],
  [/^3D/, 'create the database, or correct its name in store.url'],
  [/^42501/, 'make the user the owner of the database'],
  [/^42/, 'the tables are not those of a backend: name an empty database, or restore a backup'],
];

const NO_PASSWORD = /client password must be a (non-empty )?string/;

function explain(error: unknown, url: string): Error {
  if (error instanceof StoreDown || error instanceof StoreRefused) return error;
  const where = hostOf(url);
  const { code = '', message = 'unknown reason' } = error as { code?: string; message?: string };
  const reason = reasonOf(code);
  const why = reason === code ? message.split('\n')[0] : reason;
  const sentence = `the store at ${where} cannot be used: ${why}`;
  // The driver's own message is about its protocol.
  if (NO_PASSWORD.test(message))
    return new StoreRefused(
      `the store at ${where} cannot be used: the server asks for a password; name its file in store.passwordFile`,
    );
  if (VALUE.test(code)) return new ValueRefused(`the store at ${where} does not take a value: ${why}`);
  const [, advice] = LASTING.find(([state]) => state.test(code)) ?? [];
  return advice === undefined ? new StoreDown(sentence) : new StoreRefused(`${sentence}; ${advice}`);
}

function hostOf(url: string): string {
  const { host, pathname } = new URL(url);
  return `${host}${pathname}`;
}
