/** Writes the results of the service into the rows that all instances share. */

import type { BookChange, Decide, DeviceBook, MintRow, SessionRow } from '../../../ports/store.ts';
import { shortId } from '../../../protocol/short-id.ts';

/** The row that an instance has claimed. */
export interface Claimed {
  readonly instance: string;
  readonly lane: string;
  readonly request: string;
}

export interface Made extends Claimed {
  readonly session: string;
  /** The lane's newest request, which gets the session: this request may have arrived while the session was being created. */
  readonly answers: string;
  /** Time since that request arrived (ms). */
  readonly askedAgoMs: number;
  readonly isRollover: boolean;
  readonly isUnknown: boolean;
  /** Time since the service was asked (ms). */
  readonly madeInMs: number;
  /** Time within which the first stream must begin (ms). */
  readonly windowMs: number;
  /** Longest duration of the stream (ms). */
  readonly durationMs: number;
}

/** Result: whether the session is the lane's. If not, another instance has taken over, and this session must be revoked. */
export function settle(made: Made): Decide<boolean> {
  const { session: id, lane, answers, isRollover, isUnknown, windowMs, durationMs } = made;
  return (book, now) => {
    const own = rowOf(book, made);
    // If the row is gone, a claim for another request of the lane has ended it.
    const isKept = own !== undefined;
    // The window begins at some time between the request to the service and its answer: each use below takes the safe bound.
    const windowUntil = now + windowMs;
    const session: SessionRow = {
      id,
      lane,
      isRollover,
      isUnknown,
      isPending: isKept,
      state: isKept ? 'live' : 'leaving',
      madeAt: now,
      windowUntil,
      endsAt: now + durationMs,
      overAt: windowUntil + durationMs,
    };
    // The session is saved now, so there are no orphans to look for.
    const replaced = book.mints.filter((row) => isOf(row, made) && (row !== own || answers !== own.request));
    const over = replaced.map((row): MintRow => ({ ...row, state: 'over', recheckAt: null }));
    // After half of the window, a repeated answer would leave the device too little time.
    const freshUntil = now - made.madeInMs + windowMs / 2;
    const row: MintRow[] = isKept
      ? [{ ...own, request: answers, askedAt: now - made.askedAgoMs, state: 'made', session: id, freshUntil }]
      : [];
    const ledgerEntry = {
      id: `given/${id}`,
      lane,
      session: shortId(id),
      source: 'backend',
      ms: durationMs,
    } as const;
    const ledger = isKept ? [ledgerEntry] : [];
    return { change: { mints: [...over, ...row], sessions: [session], ledger }, result: isKept };
  };
}

/** The service has created no session: the next request may try at once. `recheckAt` stays for orphans of a crashed instance. */
export function release(claimed: Claimed): Decide<void> {
  return ({ mints }) => {
    const over = mints
      .filter((row) => isOf(row, claimed))
      .map(
        (row): MintRow => ({
          ...row,
          state: 'over',
          recheckAt: row.state === 'making' ? row.recheckAt : null,
        }),
      );
    return { change: { mints: over }, result: undefined };
  };
}

/** Marks sessions that no longer exist at the service as gone; those in `alive` may still run, and count again. */
export function removeSessions(gone: readonly string[], alive: readonly string[] = []): Decide<void> {
  return (book) => {
    const sessions = book.sessions.flatMap((session): SessionRow[] => {
      if (gone.includes(session.id)) return [{ ...session, isPending: false, state: 'gone' }];
      return alive.includes(session.id) ? [{ ...session, state: 'live' }] : [];
    });
    return { change: { sessions }, result: undefined };
  };
}

/** Whether the instance still holds the row: no other one has taken it over. */
export function holds(claimed: Claimed): Decide<boolean> {
  return (book) => ({ change: {}, result: rowOf(book, claimed) !== undefined });
}

/**
 * A lane's orphaned sessions: listed by the service, but without a row in the store. Empty while a session is being
 * created for the lane: the row of that session does not have its id yet.
 */
export function findUnknown(
  { lane, request }: Pick<Claimed, 'lane' | 'request'>,
  listed: readonly string[],
  settledMs: number,
): Decide<readonly string[]> {
  return (book, now) => {
    const isBusy = book.mints.some(
      (row) => row.lane === lane && row.state === 'making' && row.leaseUntil > now,
    );
    if (isBusy) return { change: {}, result: [] };
    const known = new Set(book.sessions.map(({ id }) => id));
    const row = book.mints.find((one) => one.lane === lane && one.request === request);
    const isDone = row !== undefined && now - row.leaseUntil > settledMs;
    const change: BookChange = isDone ? { mints: [{ ...row, recheckAt: null }] } : {};
    return { change, result: listed.filter((id) => !known.has(id)) };
  };
}

/** The row, as long as no other instance has taken the request over. */
function rowOf({ mints }: DeviceBook, claimed: Claimed): MintRow | undefined {
  return mints.find((row) => isOf(row, claimed) && row.state === 'making');
}

const isOf = (row: MintRow, { lane, request, instance }: Claimed): boolean =>
  row.lane === lane && row.request === request && row.instance === instance;
