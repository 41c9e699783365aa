/** SQL statements of the console's jobs. */
import type { StoredJob } from '../../ports/console-store.ts';
import type { Sql, SqlRow } from './sql-engine.ts';

export async function saveJob(
  sql: Sql,
  { id, at, endedAt, body }: StoredJob,
  instance: string,
  leaseUntil: number,
): Promise<boolean> {
  const rows = await sql.query(
    `INSERT INTO console_job (id, at, ended_at, instance, lease_until, body) VALUES (?, ?, ?, ?, ?, ?)
     ON CONFLICT (id) DO UPDATE SET ended_at = excluded.ended_at, lease_until = excluded.lease_until, body = excluded.body
     WHERE console_job.instance = excluded.instance RETURNING id`,
    [id, at, endedAt, instance, leaseUntil, body],
  );
  return rows.length > 0;
}

export async function findJobs(sql: Sql, most: number): Promise<StoredJob[]> {
  const rows = await sql.query(
    'SELECT id, at, ended_at, body FROM console_job ORDER BY at DESC, id LIMIT ?',
    [most],
  );
  return rows.map(jobOf);
}

export async function findJob(sql: Sql, id: string): Promise<StoredJob | null> {
  const [row] = await sql.query('SELECT id, at, ended_at, body FROM console_job WHERE id = ?', [id]);
  return row === undefined ? null : jobOf(row);
}

export async function claimJobs(
  sql: Sql,
  { instance, now, until }: { instance: string; now: number; until: number },
): Promise<StoredJob[]> {
  const rows = await sql.query(
    `UPDATE console_job SET instance = ?, lease_until = ? WHERE ended_at IS NULL AND lease_until < ?
     RETURNING id, at, ended_at, body`,
    [instance, until, now],
  );
  return rows.map(jobOf);
}

function jobOf(row: SqlRow): StoredJob {
  const { ended_at: endedAt = null } = row;
  return {
    id: String(row['id']),
    at: Number(row['at']),
    endedAt: endedAt === null ? null : Number(endedAt),
    body: String(row['body']),
  };
}
