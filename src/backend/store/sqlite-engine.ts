/** SQLite in a file on this machine. Every commit is on the disk when it returns (WAL, synchronous FULL). */
import { closeSync, openSync, statSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { StoreDown, StoreRefused, ValueRefused } from '../../ports/store.ts';
import { MEMORY_STORE } from '../../protocol/backend-config.ts';
import type { Sql, SqlEngine, SqlRow, SqlValue } from './sql-engine.ts';

/** How long a statement waits while another process has locked the file (ms). */
const WAIT_MS = 4000;
/** Interval of retries during this wait (ms). */
const STEP_MS = 5;

interface Statement {
  all(...values: SqlValue[]): unknown[];
}
interface Database {
  exec(sql: string): void;
  prepare(sql: string): Statement;
  close(): void;
}
type Open = new (path: string, options?: { timeout?: number }) => Database;

/**
 * Opens the file at its first use.
 * @param waitMs how long a statement waits (ms) while another process has the file locked
 */
export function createSqliteEngine(path: string, waitMs = WAIT_MS): SqlEngine {
  let opened: { database: Database; statements: Map<string, Statement>; file: number | null } | null = null;
  let last: Promise<unknown> = Promise.resolve();
  let isClosed = false;

  const database = async () => {
    if (opened !== null) {
      // SQLite would continue to write to the moved or deleted file.
      if (opened.file !== fileNumberAt(path))
        throw new StoreRefused(
          `the store ${path} was moved, deleted or replaced while the program ran: put the file back, or start the program again`,
        );
      return opened;
    }
    if (isClosed) throw new StoreDown('the store is closed');
    const DatabaseSync = await loadSqlite();
    if (path !== MEMORY_STORE) createPrivately(path);
    // SQLite's own busy timeout would block the whole program.
    const made = new DatabaseSync(path, { timeout: 0 });
    try {
      if (path !== MEMORY_STORE) await whenFree(waitMs, () => made.exec('PRAGMA journal_mode = WAL'));
      made.exec('PRAGMA synchronous = FULL');
    } catch (error) {
      made.close();
      throw error;
    }
    opened = { database: made, statements: new Map(), file: fileNumberAt(path) };
    return opened;
  };

  /** Translates errors of the database. Other errors in the work of a transaction are passed on unchanged. */
  const explained = async <T>(act: () => T | Promise<T>): Promise<T> => {
    try {
      return await act();
    } catch (error) {
      throw explain(error, path);
    }
  };
  const transact = async <T>(work: (sql: Sql) => Promise<T>): Promise<T> => {
    const { database: open, statements } = await explained(database);
    const sql: Sql = {
      query: (text, values = []) =>
        explained(() => {
          const statement = statements.get(text) ?? open.prepare(text);
          statements.set(text, statement);
          return statement.all(...values) as SqlRow[];
        }),
      change: (text) => explained(() => open.exec(text)),
    };
    await explained(() => whenFree(waitMs, () => open.exec('BEGIN IMMEDIATE')));
    try {
      const result = await work(sql);
      await explained(() => open.exec('COMMIT'));
      return result;
    } catch (error) {
      rollBack(open);
      throw error;
    }
  };

  return {
    dialect: 'sqlite',
    now: "CAST(unixepoch('subsec') * 1000 AS INTEGER)",
    skipLocked: '',
    // One connection has one transaction at a time.
    transact(_lock, work) {
      const done = last.then(() => transact(work));
      last = done.catch(() => {});
      return done;
    },
    async lock() {},
    async close() {
      isClosed = true;
      await last;
      if (opened === null) return;
      const { database: open } = opened;
      opened = null;
      try {
        // A copy of the file alone is then complete.
        open.prepare('PRAGMA wal_checkpoint(TRUNCATE)').all();
      } finally {
        open.close();
      }
    },
  };
}

async function whenFree(waitMs: number, act: () => void): Promise<void> {
  // Measures time instead of counting steps: on a busy machine a step takes many times its length.
  let patience: AbortSignal | null = null;
  for (;;) {
    try {
      return act();
    } catch (error) {
      patience ??= AbortSignal.timeout(waitMs);
      if (patience.aborted || !BUSY.test(error instanceof Error ? error.message : '')) throw error;
      await sleep(STEP_MS);
    }
  }
}

/** Ignores failures: after a full disk, for example, SQLite has already rolled the transaction back. */
function rollBack(open: Database): void {
  try {
    open.exec('ROLLBACK');
  } catch {}
}

/** Inode number of the file now at the path; null: there is none. */
function fileNumberAt(path: string): number | null {
  return path === MEMORY_STORE ? null : (statSync(path, { throwIfNoEntry: false })?.ino ?? null);
}

/** Creates the file as private; SQLite gives its other files the same mode. */
function createPrivately(path: string): void {
  closeSync(openSync(path, 'a', 0o600));
}

/** Node's own SQLite, or a package with the same API for older versions of Node (before 22.13). */
async function loadSqlite(): Promise<Open> {
  const own = process.versions.node.split('.').map(Number);
  const [major = 0, minor = 0] = own;
  if (major > 22 || (major === 22 && minor >= 13)) return quietly(loadOwn);
  try {
    // In the bundle the package is CommonJS, whose named exports Node does not see.
    const loaded = (await import('@photostructure/sqlite')) as { DatabaseSync?: unknown; default?: object };
    const { DatabaseSync } = loaded.DatabaseSync === undefined ? Object(loaded.default) : loaded;
    if (typeof DatabaseSync !== 'function') throw new Error('its package is incomplete');
    return DatabaseSync as Open;
  } catch (error) {
    const why = error instanceof Error ? error.message.split('\n')[0] : 'unknown reason';
    throw new StoreRefused(`SQLite cannot be loaded on this Node (${why}): install Node 22.13 or newer`);
  }
}

/** Imports by a variable: neither the types of Node 20 nor the bundler know the module. */
async function loadOwn(): Promise<Open> {
  const name = 'node:sqlite';
  const { DatabaseSync } = (await import(name)) as { DatabaseSync: Open };
  return DatabaseSync;
}

/** Suppresses the warning that the API may change: an operator can do nothing about it. */
async function quietly<T>(load: () => Promise<T>): Promise<T> {
  const { emitWarning } = process;
  process.emitWarning = () => {};
  try {
    return await load();
  } finally {
    process.emitWarning = emitWarning;
  }
}

const BUSY = /locked|busy/i;
const WHAT_TO_DO: readonly (readonly [RegExp, string])[] = [
  [/disk is full/i, 'the disk is full: make room'],
  [
    /malformed|not a database/i,
    'the file is damaged or is not a store: restore a backup, or move the file away',
  ],
  [/readonly|unable to open|EACCES|EPERM|EROFS/i, 'the program may not write it: check its owner and folder'],
  [/ENOENT|ENOTDIR/, 'its folder does not exist: create it'],
  [/EISDIR/, 'it is a folder: name a file'],
  [BUSY, 'another process holds it'],
];
/** Errors caused by the statement's values. */
const VALUE =
  /constraint failed|datatype mismatch|string or blob too big|integer overflow|too large to be represented|cannot be bound/i;
/** Errors that a person must fix before a retry can succeed. */
const LASTING = /malformed|not a database|EACCES|EPERM|EROFS|ENOENT|ENOTDIR|EISDIR|unable to open/i;

function explain(error: unknown, path: string): Error {
  if (error instanceof StoreDown || error instanceof StoreRefused) return error;
  const text = error instanceof Error ? error.message : 'unknown reason';
  const code = (error as { code?: unknown }).code;
  const about = `${String(code ?? '')} ${text}`;
  if (VALUE.test(text)) return new ValueRefused(`the store ${path} does not take a value: ${text}`);
  const advice = WHAT_TO_DO.find(([pattern]) => pattern.test(about))?.[1] ?? text;
  const sentence = `the store ${path} cannot be used: ${advice}`;
  return LASTING.test(about) ? new StoreRefused(sentence) : new StoreDown(sentence);
}
