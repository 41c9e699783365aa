/**
 * Decides, on the rows that all instances share, whether a request gets a new session. The winner writes a row with a lease;
 * every other instance sees that row, and waits for its answer or for the end of the lease.
 */
import type { BookChange, DecideCounted, MintRow, SessionRow } from '../../../ports/store.ts';
import type { TokenError, TokenRequest } from '../../../protocol/mqtt/token.ts';
import { accountOf, lastUnused } from './account-of.ts';
import { checkAccount, chooseDurationMs, makeRoom } from './device-account.ts';
import { checkPending } from './pending.ts';
import type { Allowance } from './policy.ts';

/** Length of a lease (ms). A live instance extends it in time; a device repeats its request after 5 s. */
export const LEASE_MS = 3000;

/** Time after which a service has surely ended a request, whether or not its sender lives (ms). */
const SERVICE_SETTLES_MS = 25_000;

/** @param timeoutS how long a backend waits for the service (s) */
export function settledMs(timeoutS: number): number {
  return Math.max(SERVICE_SETTLES_MS, timeoutS * 1000 + 5000);
}

export interface Wanted {
  readonly instance: string;
  readonly request: Pick<TokenRequest, 'id' | 'lane' | 'reason' | 'attempt'>;
  /** Time since the request arrived (ms). */
  readonly askedAgoMs: number;
  readonly allowance: Allowance;
  /** Longest stream that the policy allows (ms). */
  readonly maxMs: number;
  /** This instance knows no earlier session of the device. */
  readonly isUnknown: boolean;
  /** `limits.pendingSessions`. */
  readonly mostPending: number;
  /** An earlier answer cannot be repeated: its session no longer exists, or its token cannot be read. */
  readonly anew: boolean;
  /** Time until the service has surely ended a request of an instance that died (ms). */
  readonly settledMs: number;
}

export type Claim =
  /**
   * Ask the service. `list`: there may be orphaned sessions, such as those of an instance that died. `unused`: the lane's last
   * session, to be ended if no stream has begun. `revoke`: sessions that the device has replaced.
   */
  | { kind: 'mint'; list: boolean; unused: string | null; revoke: readonly string[]; durationMs: number }
  /** The request already has a session, created earlier or by another instance: answer with that session. */
  | { kind: 'repeat'; session: string; freshMs: number }
  /** Another instance works on the request: look again after this time. */
  | { kind: 'wait'; ms: number }
  /** The lane has asked again meanwhile. */
  | { kind: 'superseded' }
  | { kind: 'denied'; error: TokenError };

/** Margin after the end of a lease (ms). */
const AFTER_LEASE_MS = 50;

export function claim(wanted: Wanted): DecideCounted<Claim> {
  const { request, instance, allowance } = wanted;
  const { lane } = request;
  return (book, now, unused) => {
    const only = (result: Claim, change: BookChange = {}) => ({ change, result });
    const askedAt = now - wanted.askedAgoMs;
    const ofLane = book.mints.filter((row) => row.lane === lane);
    const own = ofLane.find((row) => row.request === request.id);
    if (ofLane.some((row) => row !== own && row.askedAt > askedAt)) return only({ kind: 'superseded' });
    /** A row of this instance is dead, too: it runs one job per lane, so a failure of the store left the row behind. */
    const isDead = (row: MintRow): boolean => row.leaseUntil <= now || row.instance === instance;
    if (own?.state === 'making' && !isDead(own))
      return only({ kind: 'wait', ms: own.leaseUntil - now + AFTER_LEASE_MS });
    const isGone = book.sessions.some(({ id, state }) => id === own?.session && state !== 'live');
    if (own?.state === 'made' && own.session !== null && now < own.freshUntil && !wanted.anew && !isGone)
      return only({ kind: 'repeat', session: own.session, freshMs: own.freshUntil - now });

    const account = accountOf(book, lane, now);
    const error = checkAccount(account, allowance, lane, now);
    if (error !== null) return only({ kind: 'denied', error });
    const pending = checkPending(book, lane, unused, wanted, now);
    if (pending !== null) return only({ kind: 'denied', error: pending });
    const room = makeRoom(account, allowance, request, now);
    if (!room.ok) return only({ kind: 'denied', error: room.error });

    const durationMs = chooseDurationMs(account, lane, wanted.maxMs, now);
    const replaced = ofLane.filter((row) => row.state === 'making' && row !== own);
    const died = [...replaced, ...(own?.state === 'making' ? [own] : [])].some(isDead);
    // A repeated attempt has no row here if the earlier attempt reached an instance with another store, or no instance at all.
    const list =
      died ||
      ofLane.some(({ recheckAt, leaseUntil }) => recheckAt !== null && leaseUntil <= now) ||
      (own === undefined && request.attempt > 1);
    const recheckAt = now + wanted.settledMs;
    // A replaced row may stand for two instances: one that died, and one that has taken it over and lives.
    const diedBefore = died || replaced.some((row) => row.recheckAt !== null);
    const ownRow: MintRow = {
      lane,
      request: request.id,
      state: 'making',
      instance,
      askedAt,
      session: null,
      freshUntil: 0,
      leaseUntil: now + LEASE_MS,
      endsAt: now + durationMs,
      recheckAt: diedBefore ? recheckAt : (own?.recheckAt ?? null),
    };
    const leaving = book.sessions
      .filter(({ id }) => room.revoke.includes(id))
      .map((session): SessionRow => ({ ...session, isPending: false, state: 'leaving' }));
    // The lane's earlier sessions are not pending: they have been used, or are ended now.
    const settled = book.sessions
      .filter((one) => one.lane === lane && one.isPending && !room.revoke.includes(one.id))
      .map((session): SessionRow => ({ ...session, isPending: false }));
    return only(
      {
        kind: 'mint',
        list,
        revoke: room.revoke,
        durationMs,
        unused: lastUnused(book, lane, now)?.id ?? null,
      },
      {
        // The instance of a replaced row may die before it saves its session: the row is checked again after a lease.
        mints: [
          ...replaced.map((row): MintRow => ({ ...row, state: 'over', recheckAt: now + LEASE_MS })),
          ownRow,
        ],
        sessions: [...leaving, ...settled],
      },
    );
  };
}
