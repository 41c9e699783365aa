/** The store on either database: the same statements for both. */
import { createHash, randomUUID } from 'node:crypto';
import {
  type BookChange,
  type Decision,
  type DeviceBook,
  type EndReport,
  FINE,
  type Store,
  type UnusedCounts,
} from '../../ports/store.ts';
import { addImplausible, append, recentStreams, report, sums } from './ledger.ts';
import { migrate } from './migrations.ts';
import { MINT_COLUMNS, mintOf, SESSION_COLUMNS, sessionOf, valuesOfMint, valuesOfSession } from './rows.ts';
import type { Sql, SqlEngine } from './sql-engine.ts';

/** How long rows count towards the limit of sessions per hour (ms). */
const KEPT_MS = 3_600_000;
const PRUNED_AFTER_MS = 2 * KEPT_MS;
const DAY_MS = 86_400_000;
/** How long counts of implausible reports are kept (ms): a year and a month, like conversations. */
const BILLED_MS = 396 * DAY_MS;

export function createSqlStore(engine: SqlEngine): Store {
  const { now: clock, skipLocked } = engine;
  let migrated: Promise<void> | null = null;

  /** Runs the migration once. After a failure, the next operation tries again. */
  const open = (): Promise<void> => {
    migrated ??= migrate(engine).catch((error: unknown) => {
      migrated = null;
      throw error;
    });
    return migrated;
  };
  const transact = async <T>(
    lock: string | null,
    work: (sql: Sql, now: number) => Promise<T>,
  ): Promise<T> => {
    await open();
    return engine.transact(lock, async (sql) => {
      const [row] = await sql.query(`SELECT ${clock} AS now`);
      return work(sql, Number(row?.['now']));
    });
  };

  const change = <T>(
    device: string,
    decide: (book: DeviceBook, now: number, sql: Sql) => Promise<Decision<T>>,
  ): Promise<T> =>
    transact(`device ${device}`, async (sql, now) => {
      const mints = await sql.query(
        `SELECT ${MINT_COLUMNS} FROM mint WHERE device = ? AND asked_at > ? ORDER BY asked_at, request`,
        [device, now - KEPT_MS],
      );
      const sessions = await sql.query(
        `SELECT ${SESSION_COLUMNS} FROM session
         WHERE device = ? AND (made_at > ? OR over_at IS NULL OR over_at > ?) ORDER BY made_at, id`,
        [device, now - KEPT_MS, now],
      );
      const book = { mints: mints.map(mintOf), sessions: sessions.map(sessionOf) };
      const { change: rows, result } = await decide(book, now, sql);
      await write(sql, device, rows, now);
      return result;
    });

  /** Updates requests, except for those that another transaction has locked. */
  const updateFree = (change: string, condition: string): string =>
    `UPDATE mint SET ${change} WHERE (device, lane, request) IN
     (SELECT device, lane, request FROM mint WHERE ${condition}${skipLocked})`;

  return {
    open,
    check: () =>
      transact(null, async (sql, now) => {
        await sql.query('SAVEPOINT tried');
        await write(sql, TRIED, grantAt(now), now);
        await sql.query('ROLLBACK TO SAVEPOINT tried');
      }),
    change: (device, decide) => change(device, async (book, now) => decide(book, now)),
    changeCounted: (device, decide) =>
      change(device, async (book, now, sql) => {
        await engine.lock(sql, 'unused');
        return decide(book, now, await countUnused(sql, now));
      }),
    renew: (instance, leaseMs) =>
      transact(null, async (sql, now) => {
        const own = "state = 'making' AND instance = ? AND lease_until > ?";
        await sql.query(updateFree('lease_until = ?', own), [now + leaseMs, instance, now]);
      }),
    knownDevices: (most) =>
      transact(null, async (sql) => {
        const rows = await sql.query('SELECT name FROM device ORDER BY known_since DESC LIMIT ?', [most]);
        return rows.map(({ name }) => String(name));
      }),
    takeAbandoned: (graceMs, againMs, most) =>
      transact(null, async (sql, now) => {
        const dead = "state = 'making' AND lease_until < ?";
        await sql.query(updateFree("state = 'over', recheck_at = ?", dead), [now, now - graceMs]);
        const rows = await sql.query(
          `SELECT device, lane, request FROM mint WHERE recheck_at <= ? ORDER BY recheck_at LIMIT ?${skipLocked}`,
          [now, most],
        );
        for (const { device = null, lane = null, request = null } of rows) {
          await sql.query('UPDATE mint SET recheck_at = ? WHERE device = ? AND lane = ? AND request = ?', [
            now + againMs,
            device,
            lane,
            request,
          ]);
        }
        return rows.map((row) => ({
          device: String(row['device']),
          lane: String(row['lane']),
          request: String(row['request']),
        }));
      }),
    takeLeaving: (againMs, most) =>
      transact(null, async (sql, now) => {
        const rows = await sql.query(
          `SELECT id, device FROM session WHERE state = 'leaving' AND retry_at <= ?
           AND (over_at IS NULL OR over_at > ?) ORDER BY retry_at LIMIT ?${skipLocked}`,
          [now, now, most],
        );
        for (const { id = null } of rows)
          await sql.query('UPDATE session SET retry_at = ? WHERE id = ?', [now + againMs, id]);
        return rows.map(({ id, device }) => ({ id: String(id), device: String(device) }));
      }),
    append: (entry) => transact(null, async (sql, now) => (await append(sql, entry, now)) > 0),
    report: (one) => transact(null, (sql, now) => report(sql, idOf(one), one, now)),
    addImplausible: (numbers) =>
      transact(null, async (sql, now) => {
        for (const [device, reports] of numbers) await addImplausible(sql, device, reports, now);
      }),
    recentStreams: (device) => transact(null, (sql, now) => recentStreams(sql, device, now)),
    sums: (from, to) => transact(null, (sql) => sums(sql, from, to)),
    tell: (subject, what) =>
      transact(null, async (sql) => {
        const rows =
          what === FINE
            ? await sql.query('DELETE FROM told WHERE subject = ? RETURNING subject', [subject])
            : await sql.query(
                `INSERT INTO told (subject, what) VALUES (?, ?) ON CONFLICT (subject)
                 DO UPDATE SET what = excluded.what WHERE told.what <> excluded.what RETURNING subject`,
                [subject, what],
              );
        return rows.length > 0;
      }),
    told: () =>
      transact(null, async (sql) => {
        const rows = await sql.query('SELECT subject, what FROM told');
        return new Map(rows.map(({ subject, what }) => [String(subject), String(what)]));
      }),
    prune: () =>
      transact(null, async (sql, now) => {
        const before = now - PRUNED_AFTER_MS;
        await sql.query('DELETE FROM mint WHERE asked_at < ? AND recheck_at IS NULL', [before]);
        await sql.query('DELETE FROM session WHERE made_at < ? AND over_at < ?', [before, before]);
        await sql.query('DELETE FROM implausible WHERE day < ?', [Math.floor((now - BILLED_MS) / DAY_MS)]);
      }),
    close: () => engine.close(),
  };
}

/** A name for test rows that no device can have. */
const TRIED = 'tried';

/** The rows that a grant writes, for a test. */
function grantAt(now: number): BookChange {
  const id = randomUUID();
  return {
    mints: [
      {
        lane: 'main',
        request: id,
        state: 'made',
        instance: id,
        leaseUntil: now,
        askedAt: now,
        endsAt: now,
        session: id,
        freshUntil: now,
        recheckAt: now,
      },
    ],
    sessions: [
      {
        id,
        lane: 'main',
        madeAt: now,
        windowUntil: now,
        endsAt: now,
        overAt: now,
        isRollover: false,
        isPending: true,
        isUnknown: true,
        state: 'live',
      },
    ],
    ledger: [{ id: `given/${id}`, lane: 'main', session: id, source: 'backend', ms: 0 }],
  };
}

/** A redelivered report gets the same id, even on another backend: each session has one line for its end. */
const idOf = ({ device, lane, session }: EndReport): string =>
  `device/${createHash('sha256').update(`${device}\n${lane}\n${session}`).digest('base64url')}`;

/** How long the instance that marked a session may take to revoke it before another one does (ms). */
const REVOKED_WITHIN_MS = 3000;

async function write(sql: Sql, device: string, change: BookChange, now: number): Promise<void> {
  const { mints = [], sessions = [], ledger = [] } = change;
  for (const entry of ledger) await append(sql, { ...entry, device }, now);
  for (const mint of mints) {
    await sql.query(upsert('mint', `device, ${MINT_COLUMNS}`, 'device, lane, request'), [
      device,
      ...valuesOfMint(mint),
    ]);
  }
  for (const session of sessions) {
    const values = [device, ...valuesOfSession(session), Math.round(now + REVOKED_WITHIN_MS)];
    await sql.query(upsert('session', `device, ${SESSION_COLUMNS}, retry_at`, 'id'), values);
  }
  if (sessions.length > 0) {
    await sql.query('INSERT INTO device (name, known_since) VALUES (?, ?) ON CONFLICT (name) DO NOTHING', [
      device,
      now,
    ]);
  }
}

function upsert(table: string, columns: string, key: string): string {
  const names = columns.split(', ');
  const keys = key.split(', ');
  const changed = names.filter((name) => !keys.includes(name)).map((name) => `${name} = excluded.${name}`);
  const values = names.map(() => '?').join(', ');
  return `INSERT INTO ${table} (${columns}) VALUES (${values}) ON CONFLICT (${key}) DO UPDATE SET ${changed.join(', ')}`;
}

/** Requests count as soon as they are claimed. Requests of devices without sessions count as unknown. */
const UNUSED = `
  SELECT count(*) AS count, min(until) AS first_until,
    sum(is_unknown) AS unknown, min(CASE WHEN is_unknown = 1 THEN until END) AS first_unknown
  FROM (
    SELECT window_until AS until, is_unknown FROM session WHERE is_pending = 1 AND window_until > ?
    UNION ALL
    SELECT NULL, CASE WHEN EXISTS (SELECT 1 FROM device WHERE name = mint.device) THEN 0 ELSE 1 END
    FROM mint WHERE state = 'making' OR recheck_at IS NOT NULL) AS unused`;

async function countUnused(sql: Sql, now: number): Promise<UnusedCounts> {
  const [row = {}] = await sql.query(UNUSED, [now]);
  const numberAt = (name: string): number => Number(row[name] ?? 0);
  return {
    all: { count: numberAt('count'), firstUntil: numberAt('first_until') || now },
    unknown: { count: numberAt('unknown'), firstUntil: numberAt('first_unknown') || now },
  };
}
