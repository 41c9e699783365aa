/** SQL statements of the audit. */
import { randomBytes } from 'node:crypto';
import type { AuditEntry, AuditFilter, StoredAudit } from '../../ports/console-store.ts';
import type { Sql, SqlRow, SqlValue } from './sql-engine.ts';

/** Ids sort by time: 9 digits of base 36 last until the year 5188. */
function newId(now: number): string {
  return `${now.toString(36).padStart(9, '0')}${randomBytes(6).toString('hex')}`;
}

export async function addAudit(sql: Sql, entry: AuditEntry, now: number): Promise<string> {
  const id = newId(now);
  const { who, from, what, on, args } = entry;
  await sql.query(
    'INSERT INTO audit (id, at, who, address, what, target, args) VALUES (?, ?, ?, ?, ?, ?, ?)',
    [id, now, who, from, what, on, args],
  );
  return id;
}

export async function endAudit(
  sql: Sql,
  id: string,
  { ok, text, at }: { ok: boolean; text: string; at: number },
): Promise<void> {
  await sql.query('UPDATE audit SET ended_at = ?, is_ok = ?, result = ? WHERE id = ? AND ended_at IS NULL', [
    at,
    Number(ok),
    text,
    id,
  ]);
}

export async function contradictAudit(sql: Sql, on: string, said: string, how: string): Promise<void> {
  const before = `${said}; `;
  await sql.query(
    `UPDATE audit SET is_ok = 0, result = ? WHERE result = ? AND is_ok = 1 AND id = (
      SELECT max(id) FROM audit WHERE target = ? AND substr(what, 1, 7) = 'config.'
      AND (result = ? OR substr(result, 1, length(?)) = ?))`,
    [`${before}${how}`, said, on, said, before, before],
  );
}

export async function findAudit(sql: Sql, filter: AuditFilter, most: number): Promise<StoredAudit[]> {
  const { who, what, on, from, to, before } = filter;
  const conditions: [string, SqlValue | undefined][] = [
    ['who = ?', who],
    // Not LIKE, whose wildcards would need escaping.
    ['substr(what, 1, length(?)) = ?', what],
    ['target = ?', on],
    ['at >= ?', from],
    ['at < ?', to],
    ['id < ?', before],
  ];
  const filters = conditions.filter(([, value]) => value !== undefined);
  const where = filters.length === 0 ? '' : `WHERE ${filters.map(([text]) => text).join(' AND ')}`;
  const values = filters.flatMap(([text, value = null]) =>
    text
      .split('?')
      .slice(1)
      .map(() => value),
  );
  const rows = await sql.query(`SELECT * FROM audit ${where} ORDER BY id DESC LIMIT ?`, [...values, most]);
  return rows.map(auditOf);
}

function auditOf(row: SqlRow): StoredAudit {
  const { target = null, ended_at: endedAt = null } = row;
  return {
    id: String(row['id']),
    at: Number(row['at']),
    who: String(row['who']),
    from: String(row['address']),
    what: String(row['what']),
    on: target === null ? null : String(target),
    args: String(row['args']),
    result:
      endedAt === null ? null : { at: Number(endedAt), ok: row['is_ok'] === 1, text: String(row['result']) },
  };
}
