/** The console's store on either database: people and sessions here, the other tables in the files beside it. */
import type { ConsoleStore, StoredAttempts, StoredPerson } from '../../ports/console-store.ts';
import type { ConsoleRole } from '../../protocol/console-routes.ts';
import { addAudit, contradictAudit, endAudit, findAudit } from './console-audit.ts';
import { addConversation, conversationSums } from './console-conversations.ts';
import { claimJobs, findJob, findJobs, saveJob } from './console-jobs.ts';
import { migrate } from './migrations.ts';
import type { Sql, SqlEngine, SqlRow, SqlValue } from './sql-engine.ts';

const DAY_MS = 86_400_000;
/** How long audit and conversations are kept (ms): a year and a month. */
const KEPT_MS = 396 * DAY_MS;
/** How long jobs are kept (ms): a month. */
const JOBS_KEPT_MS = 31 * DAY_MS;
/** How long sign-in attempts are kept (ms): longer than the window of any limit on them. */
const ATTEMPTS_KEPT_MS = DAY_MS;
/** Minimum interval between two writes of a session's use (ms). */
const USE_NOTED_EACH_MS = 60_000;

/** Changes of people run one at a time, so that two of them cannot remove the last two administrators. */
const PEOPLE_LOCK = 'console people';
const ATTEMPTS_LOCK = 'console sign-in';

const PERSON = `SELECT p.*, a.since AS tried_since, a.count AS tried
  FROM person p LEFT JOIN sign_in_attempt a ON a.name = p.name`;

export function createConsoleStore(engine: SqlEngine): ConsoleStore {
  let migrated: Promise<void> | null = null;
  const open = (): Promise<void> => {
    migrated ??= migrate(engine).catch((error: unknown) => {
      migrated = null;
      throw error;
    });
    return migrated;
  };
  const transact = async <T>(
    work: (sql: Sql, now: number) => Promise<T>,
    lock: string | null = null,
  ): Promise<T> => {
    await open();
    return engine.transact(lock, async (sql) => {
      const [row] = await sql.query(`SELECT ${engine.now} AS now`);
      return work(sql, Number(row?.['now']));
    });
  };

  return {
    open,
    people: () => transact(async (sql) => (await sql.query(`${PERSON} ORDER BY p.name`)).map(personOf)),
    person: (name) => transact((sql) => findPerson(sql, name)),
    attempt: (name, decide) =>
      transact(async (sql, now) => {
        const person = await findPerson(sql, name);
        const known = person === null ? await findAttempts(sql, name) : person.attempts;
        const { attempts, waitMs } = decide(known, now);
        if (attempts !== null)
          await sql.query(
            `INSERT INTO sign_in_attempt (name, since, count) VALUES (?, ?, ?)
             ON CONFLICT (name) DO UPDATE SET since = excluded.since, count = excluded.count`,
            [person?.name ?? name, attempts.since, attempts.count],
          );
        return { person, waitMs };
      }, ATTEMPTS_LOCK),
    clearAttempts: (name) => transact((sql) => clearAttempts(sql, name)),
    addPerson: ({ name, role, passwordHash }) =>
      transact(async (sql, now) => {
        const rows = await sql.query(
          `INSERT INTO person (name, role, password_hash, since) VALUES (?, ?, ?, ?)
           ON CONFLICT (name) DO NOTHING RETURNING name`,
          [name, role, passwordHash, now],
        );
        return rows.length > 0;
      }, PEOPLE_LOCK),
    changePerson: (name, { role, passwordHash }, keep = '') =>
      transact(async (sql) => {
        const person = await findPerson(sql, name);
        if (person === null) return 'unknown';
        const next = role ?? person.role;
        if (next !== 'administrator' && (await isLastAdministrator(sql, person))) return 'last';
        await sql.query('UPDATE person SET role = ?, password_hash = ? WHERE name = ?', [
          next,
          passwordHash ?? person.passwordHash,
          name,
        ]);
        await sql.query('DELETE FROM console_session WHERE person = ? AND id <> ?', [name, keep]);
        if (passwordHash !== undefined) await clearAttempts(sql, name);
        return 'done';
      }, PEOPLE_LOCK),
    removePerson: (name) =>
      transact(async (sql) => {
        const person = await findPerson(sql, name);
        if (person === null) return 'unknown';
        if (await isLastAdministrator(sql, person)) return 'last';
        await sql.query('DELETE FROM console_session WHERE person = ?', [name]);
        await sql.query('DELETE FROM person WHERE name = ?', [name]);
        await clearAttempts(sql, name);
        return 'done';
      }, PEOPLE_LOCK),

    openSession: (key, { name, passwordHash }, longestMs) =>
      transact(async (sql, now) => {
        const person = await findPerson(sql, name);
        if (person === null || person.passwordHash !== passwordHash) return null;
        const endsAt = now + longestMs;
        await sql.query('INSERT INTO console_session (id, person, used_at, ends_at) VALUES (?, ?, ?, ?)', [
          key,
          name,
          now,
          endsAt,
        ]);
        await sql.query('UPDATE person SET seen_at = ? WHERE name = ?', [now, name]);
        return { name, role: person.role, endsAt };
      }, PEOPLE_LOCK),
    useSession: (key, idleMs, isUse = true) =>
      transact(async (sql, now) => {
        const [row] = await sql.query(
          `SELECT p.name AS name, p.role AS role, s.used_at AS used_at, s.ends_at AS ends_at
           FROM console_session s JOIN person p ON p.name = s.person WHERE s.id = ?`,
          [key],
        );
        if (row === undefined) return null;
        const usedAt = Number(row['used_at']);
        const endsAt = Number(row['ends_at']);
        if (now >= Math.min(endsAt, usedAt + idleMs)) return null;
        if (isUse && now - usedAt > USE_NOTED_EACH_MS)
          await sql.query('UPDATE console_session SET used_at = ? WHERE id = ?', [now, key]);
        return {
          name: String(row['name']),
          role: row['role'] as ConsoleRole,
          endsAt: Math.min(endsAt, (isUse ? now : usedAt) + idleMs),
        };
      }),
    endSession: (key) =>
      transact(async (sql) => {
        await sql.query('DELETE FROM console_session WHERE id = ?', [key]);
      }),

    beginAudit: (entry) => transact((sql, now) => addAudit(sql, entry, now)),
    endAudit: (id, ok, text) => transact((sql, now) => endAudit(sql, id, { ok, text, at: now })),
    contradictAudit: (on, said, how) => transact((sql) => contradictAudit(sql, on, said, how)),
    audit: (filter, most) => transact((sql) => findAudit(sql, filter, most)),

    claimConfig: (target, holder, leaseMs) =>
      transact(async (sql, now) => {
        const rows = await sql.query(
          `INSERT INTO config_claim (target, holder, lease_until) VALUES (?, ?, ?)
           ON CONFLICT (target) DO UPDATE SET holder = excluded.holder, lease_until = excluded.lease_until
           WHERE config_claim.lease_until < ? RETURNING target`,
          [target, holder, now + leaseMs, now],
        );
        return rows.length > 0;
      }),
    releaseConfig: (target, holder) =>
      transact(async (sql) => {
        await sql.query('DELETE FROM config_claim WHERE target = ? AND holder = ?', [target, holder]);
      }),

    saveJob: (job, instance, leaseMs) => transact((sql, now) => saveJob(sql, job, instance, now + leaseMs)),
    jobs: (most) => transact((sql) => findJobs(sql, most)),
    job: (id) => transact((sql) => findJob(sql, id)),
    claimJobs: (instance, leaseMs) =>
      transact((sql, now) => claimJobs(sql, { instance, now, until: now + leaseMs }), 'console jobs'),

    addConversation: (one, most) =>
      transact((sql, now) => addConversation(sql, one, most, now), `conversations ${one.device}`),
    conversations: (from, to, by) => transact((sql) => conversationSums(sql, from, to, by)),

    prune: () =>
      transact(async (sql, now) => {
        await sql.query('DELETE FROM console_session WHERE ends_at < ?', [now]);
        await sql.query('DELETE FROM sign_in_attempt WHERE since < ?', [now - ATTEMPTS_KEPT_MS]);
        await sql.query('DELETE FROM config_claim WHERE lease_until < ?', [now]);
        await sql.query('DELETE FROM audit WHERE at < ?', [now - KEPT_MS]);
        await sql.query('DELETE FROM conversation WHERE at < ?', [now - KEPT_MS]);
        await sql.query('DELETE FROM console_job WHERE at < ?', [now - JOBS_KEPT_MS]);
      }),
    close: () => engine.close(),
  };
}

async function findPerson(sql: Sql, name: string): Promise<StoredPerson | null> {
  const [row] = await sql.query(`${PERSON} WHERE p.name = ?`, [name]);
  return row === undefined ? null : personOf(row);
}

async function findAttempts(sql: Sql, name: string): Promise<StoredAttempts | null> {
  const [row] = await sql.query('SELECT since, count FROM sign_in_attempt WHERE name = ?', [name]);
  return row === undefined ? null : attemptsOf(row['since'], row['count']);
}

async function clearAttempts(sql: Sql, name: string): Promise<void> {
  await sql.query('DELETE FROM sign_in_attempt WHERE name = ?', [name]);
}

async function isLastAdministrator(sql: Sql, person: StoredPerson): Promise<boolean> {
  if (person.role !== 'administrator') return false;
  const [row] = await sql.query("SELECT count(*) AS count FROM person WHERE role = 'administrator'");
  return Number(row?.['count']) <= 1;
}

function personOf(row: SqlRow): StoredPerson {
  const { name, role, password_hash, since, seen_at = null, tried_since, tried } = row;
  return {
    name: String(name),
    role: role as ConsoleRole,
    passwordHash: String(password_hash),
    since: Number(since),
    seenAt: seen_at === null ? null : Number(seen_at),
    attempts: attemptsOf(tried_since, tried),
  };
}

function attemptsOf(since: SqlValue = null, count: SqlValue = null): StoredAttempts | null {
  return since === null ? null : { since: Number(since), count: Number(count) };
}
