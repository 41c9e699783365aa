/** Converts table rows to the port's types and back. */
import type { MintRow, SessionRow } from '../../ports/store.ts';
import type { SqlRow, SqlValue } from './sql-engine.ts';

export const MINT_COLUMNS =
  'lane, request, state, instance, lease_until, asked_at, ends_at, session, fresh_until, recheck_at';
export const SESSION_COLUMNS =
  'id, lane, made_at, window_until, ends_at, over_at, is_rollover, is_pending, is_unknown, state';

export function mintOf(row: SqlRow): MintRow {
  return {
    lane: String(row['lane']),
    request: String(row['request']),
    state: row['state'] as MintRow['state'],
    instance: String(row['instance']),
    leaseUntil: Number(row['lease_until']),
    askedAt: Number(row['asked_at']),
    endsAt: timeOf(row['ends_at']),
    session: row['session'] === null ? null : String(row['session']),
    freshUntil: Number(row['fresh_until']),
    recheckAt: row['recheck_at'] === null ? null : Number(row['recheck_at']),
  };
}

/** Values in the order of `MINT_COLUMNS`. */
export function valuesOfMint(row: MintRow): SqlValue[] {
  return [
    row.lane,
    row.request,
    row.state,
    row.instance,
    whole(row.leaseUntil),
    whole(row.askedAt),
    whole(row.endsAt),
    row.session,
    whole(row.freshUntil),
    row.recheckAt === null ? null : whole(row.recheckAt),
  ];
}

export function sessionOf(row: SqlRow): SessionRow {
  return {
    id: String(row['id']),
    lane: String(row['lane']),
    madeAt: Number(row['made_at']),
    windowUntil: Number(row['window_until']),
    endsAt: timeOf(row['ends_at']),
    overAt: timeOf(row['over_at']),
    isRollover: row['is_rollover'] === 1,
    isPending: row['is_pending'] === 1,
    isUnknown: row['is_unknown'] === 1,
    state: row['state'] as SessionRow['state'],
  };
}

/** Values in the order of `SESSION_COLUMNS`. */
export function valuesOfSession(row: SessionRow): SqlValue[] {
  return [
    row.id,
    row.lane,
    whole(row.madeAt),
    whole(row.windowUntil),
    whole(row.endsAt),
    whole(row.overAt),
    Number(row.isRollover),
    Number(row.isPending),
    Number(row.isUnknown),
    row.state,
  ];
}

/** A missing value stands for infinity. */
const timeOf = (value: SqlValue | undefined): number =>
  value === null || value === undefined ? Number.POSITIVE_INFINITY : Number(value);
const whole = (time: number): number | null => (Number.isFinite(time) ? Math.round(time) : null);
