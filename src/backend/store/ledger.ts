/** The statements of the ledger. */
import type { DeviceSum, LedgerEntry } from '../../ports/store.ts';
import type { Sql, SqlRow } from './sql-engine.ts';

/** A stream of a month may belong to a session that was given this long before (ms). */
export const LONGEST_SESSION_MS = 86_400_000;
/** Difference between two reports of one stream that is not told (%), and a report's own inaccuracy (ms). */
const SAME_WITHIN_PERCENT = 1;
const INEXACT_MS = 2000;

/** @returns the number of new lines: 0 if it was there */
export async function append(sql: Sql, entry: LedgerEntry, now: number): Promise<number> {
  const { id, device, lane, session, source, ms } = entry;
  const rows = await sql.query(
    `INSERT INTO ledger (id, at, device, lane, session, source, ms) VALUES (?, ?, ?, ?, ?, ?, ?)
     ON CONFLICT (id) DO NOTHING RETURNING id`,
    [id, now, device, lane, session, source, Number.isFinite(ms) ? Math.round(ms) : null],
  );
  return rows.length;
}

/**
 * One row for each device. A session counts with the service's record where there is one, else with the device's reports, and
 * never with more than it could last. Reports of sessions that the backend did not give cost nothing, and are counted.
 * Values: the beginning three times, the beginning for sessions, the end.
 */
export const SUMS = `
  WITH parts AS (
    SELECT device, lane, session,
      sum(CASE WHEN source = 'device' AND at >= ? THEN ms END) AS device_ms,
      sum(CASE WHEN source = 'service' AND at >= ? THEN ms END) AS service_ms,
      max(CASE WHEN source = 'backend' THEN ms END) AS most_ms,
      max(CASE WHEN source = 'backend' THEN 1 ELSE 0 END) AS is_given,
      max(CASE WHEN source = 'backend' AND at >= ? THEN 1 ELSE 0 END) AS is_new
    FROM ledger WHERE at >= ? AND at < ? GROUP BY device, lane, session),
  streams AS (
    SELECT *, coalesce(service_ms, device_ms) AS told_ms FROM parts)
  SELECT device,
    sum(is_new) AS sessions,
    sum(CASE WHEN is_given = 0 OR told_ms IS NULL THEN 0
             WHEN told_ms > most_ms THEN most_ms ELSE told_ms END) AS ms,
    sum(CASE WHEN is_new = 1 AND told_ms IS NULL THEN 1 ELSE 0 END) AS unreported,
    sum(CASE WHEN is_new = 1 AND told_ms IS NULL THEN most_ms END) AS unreported_ms,
    sum(CASE WHEN is_new = 1 AND told_ms IS NULL AND most_ms IS NULL THEN 1 ELSE 0 END) AS unlimited,
    sum(CASE WHEN told_ms IS NOT NULL AND (is_given = 0 OR told_ms > most_ms + ${INEXACT_MS}
             OR abs(service_ms - device_ms) * 100 > service_ms * ${SAME_WITHIN_PERCENT}) THEN 1 ELSE 0 END) AS implausible
  FROM streams GROUP BY device
  HAVING sum(is_new) > 0 OR sum(CASE WHEN told_ms IS NOT NULL THEN 1 ELSE 0 END) > 0
  ORDER BY device`;

export function sumOf(row: SqlRow): DeviceSum {
  return {
    device: String(row['device']),
    sessions: Number(row['sessions']),
    ms: Number(row['ms']),
    unreported: Number(row['unreported']),
    unreportedMs: Number(row['unlimited']) > 0 ? null : Number(row['unreported_ms'] ?? 0),
    implausible: Number(row['implausible']),
  };
}
