/** SQL statements of the ledger. */
import type { DeviceSum, EndReport, LedgerEntry, RecentStreams, ReportOutcome } from '../../ports/store.ts';
import type { Sql, SqlRow } from './sql-engine.ts';

/** Latest accepted report of a stream, counted from the grant of its session (ms): a weekend without the broker. */
export const REPORTED_WITHIN_MS = 3 * 86_400_000;
/** Longer claims are cut to this (ms) and marked. No session can last this long. */
export const LONGEST_CLAIM_MS = 31 * 86_400_000;
/** Tolerated inaccuracy of a device's report (ms). */
const INEXACT_MS = 2000;
/** Tolerance by which a stream may be longer than its session (ms); the excess is not counted. */
const MARGIN_MS = 60_000;

/** @returns the number of new lines: 0 if the line exists already */
export async function append(
  sql: Sql,
  { id, device, lane, session, source, ms }: LedgerEntry,
  now: number,
  claimed: string | null = null,
): Promise<number> {
  const rows = await sql.query(
    `INSERT INTO ledger (id, at, device, lane, session, source, ms, claimed) VALUES (?, ?, ?, ?, ?, ?, ?, ?)
     ON CONFLICT (id) DO NOTHING RETURNING id`,
    [id, now, device, lane, session, source, Number.isFinite(ms) ? Math.round(ms) : null, claimed],
  );
  return rows.length;
}

/** @param id id for the line */
export async function report(
  sql: Sql,
  id: string,
  { device, lane, session, ms }: EndReport,
  now: number,
): Promise<ReportOutcome> {
  const lines = await sql.query(
    `SELECT at, source, ms, claimed FROM ledger WHERE device = ? AND at >= ? AND lane = ? AND session = ?
     ORDER BY at, id`,
    [device, now - REPORTED_WITHIN_MS, lane, session],
  );
  const grant = lines.find(({ source }) => source === 'backend');
  if (grant === undefined) return 'implausible';
  const reportedMs = Math.round(ms);
  const before = lines.find(({ source }) => source === 'device');
  if (before !== undefined)
    return Number(before['claimed'] ?? before['ms']) === reportedMs ? 'known' : 'implausible';
  const longest = Number(grant['ms'] ?? now - Number(grant['at'])) + MARGIN_MS;
  const entry: LedgerEntry = {
    id,
    device,
    lane,
    session,
    source: 'device',
    ms: Math.min(reportedMs, longest),
  };
  return (await append(sql, entry, now, reportedMs > longest ? String(reportedMs) : null)) > 0
    ? 'new'
    : 'known';
}

/** Unreported streams count with their maximum time. Parameters: now (twice), device, start of the period. */
const RECENT = `
  WITH own AS (
    SELECT max(CASE WHEN source <> 'backend' THEN NULL WHEN ms < ? - at THEN ms ELSE ? - at END) AS most_ms,
      sum(CASE WHEN source = 'device' THEN ms END) AS told_ms
    FROM ledger WHERE device = ? AND at >= ? GROUP BY lane, session)
  SELECT count(*) AS sessions, sum(CASE WHEN told_ms < most_ms THEN told_ms ELSE most_ms END) AS ms
  FROM own WHERE most_ms IS NOT NULL`;

export async function recentStreams(sql: Sql, device: string, now: number): Promise<RecentStreams> {
  const [row] = await sql.query(RECENT, [now, now, device, now - REPORTED_WITHIN_MS]);
  return { sessions: Number(row?.['sessions'] ?? 0), ms: Number(row?.['ms'] ?? 0) };
}

const DAY_MS = 86_400_000;

/** Only devices that had a session get a row: at a broker without logins anyone can invent names. */
export async function addImplausible(sql: Sql, device: string, reports: number, now: number): Promise<void> {
  const day = Math.floor(now / DAY_MS);
  const [known] = await sql.query(
    "SELECT 1 AS one FROM ledger WHERE device = ? AND source = 'backend' LIMIT 1",
    [device],
  );
  if (known === undefined) return;
  await sql.query(
    `INSERT INTO implausible (id, device, day, reports) VALUES (?, ?, ?, ?)
     ON CONFLICT (id) DO UPDATE SET reports = implausible.reports + excluded.reports`,
    [`${day}/${device}`, device, day, reports],
  );
}

/**
 * One row per device. A session counts with the device's reports, and never with more than it could last. Reports of sessions
 * that the backend did not grant cost nothing; they count as implausible.
 */
const SUMS = `
  WITH streams AS (
    SELECT device, lane, session,
      sum(CASE WHEN source = 'device' AND at >= ? THEN ms END) AS told_ms,
      max(CASE WHEN source = 'backend' THEN ms END) AS most_ms,
      max(CASE WHEN source = 'backend' THEN 1 ELSE 0 END) AS is_given,
      max(CASE WHEN source = 'backend' AND at >= ? THEN 1 ELSE 0 END) AS is_new,
      max(CASE WHEN claimed IS NOT NULL AND at >= ? THEN 1 ELSE 0 END) AS is_excessive
    FROM ledger WHERE at >= ? AND at < ? GROUP BY device, lane, session),
  refused AS (
    SELECT device, sum(reports) AS reports FROM implausible WHERE day >= ? AND day < ? GROUP BY device),
  devices AS (
    SELECT device,
      sum(is_new) AS sessions,
      sum(CASE WHEN is_given = 0 OR told_ms IS NULL THEN 0
               WHEN told_ms > most_ms THEN most_ms ELSE told_ms END) AS ms,
      sum(CASE WHEN is_new = 1 AND told_ms IS NULL THEN 1 ELSE 0 END) AS unreported,
      sum(CASE WHEN is_new = 1 AND told_ms IS NULL THEN most_ms END) AS unreported_ms,
      sum(CASE WHEN is_new = 1 AND told_ms IS NULL AND most_ms IS NULL THEN 1 ELSE 0 END) AS unlimited,
      sum(CASE WHEN told_ms IS NOT NULL AND (is_given = 0 OR is_excessive = 1 OR told_ms > most_ms + ${INEXACT_MS})
               THEN 1 ELSE 0 END) AS implausible
    FROM streams GROUP BY device
    HAVING sum(is_new) > 0 OR sum(CASE WHEN told_ms IS NOT NULL THEN 1 ELSE 0 END) > 0)
  SELECT device, sessions, ms, unreported, unreported_ms, unlimited, implausible + coalesce(reports, 0) AS implausible
  FROM devices LEFT JOIN refused USING (device)
  UNION ALL
  SELECT device, 0, 0, 0, 0, 0, reports FROM refused WHERE device NOT IN (SELECT device FROM devices)
  ORDER BY device`;

/** @param from start of the period, `to` its end (ms since 1970) */
export async function sums(sql: Sql, from: number, to: number): Promise<DeviceSum[]> {
  // Streams of a month may belong to sessions that were granted at the end of the previous month.
  const since = from - REPORTED_WITHIN_MS;
  const rows = await sql.query(SUMS, [
    from,
    from,
    from,
    since,
    to,
    Math.floor(from / DAY_MS),
    Math.ceil(to / DAY_MS),
  ]);
  return rows.map(sumOf);
}

function sumOf(row: SqlRow): DeviceSum {
  return {
    device: String(row['device']),
    sessions: Number(row['sessions']),
    ms: Number(row['ms']),
    unreported: Number(row['unreported']),
    unreportedMs: Number(row['unlimited']) > 0 ? null : Number(row['unreported_ms'] ?? 0),
    implausible: Number(row['implausible']),
  };
}
