/** Builds the account of one device, to which its limits apply, from the rows of the store. */
import type { DeviceBook, SessionRow } from '../../../ports/store.ts';
import type { Account } from './device-account.ts';

/** @param lane the lane that asks: its own requests do not count */
export function accountOf({ mints, sessions }: DeviceBook, lane: string, now: number): Account {
  const making = mints.filter((row) => row.state === 'making' && row.leaseUntil > now && row.lane !== lane);
  return {
    granted: sessions
      .filter(({ state, overAt }) => state !== 'gone' && overAt > now)
      .map(({ id, lane, madeAt, endsAt, overAt, isRollover, state }) => ({
        id,
        lane,
        at: madeAt,
        endsAt,
        overAt,
        isRollover,
        leaving: state === 'leaving',
      })),
    grants: sessions.map(({ madeAt }) => madeAt),
    working: new Map(making.map((row) => [row.lane, row.endsAt])),
  };
}

/** The lane's last session while it may still wait for its first stream; null if there is none. */
export function lastUnused({ sessions }: DeviceBook, lane: string, now: number): SessionRow | null {
  const usable = sessions.filter((session) => session.lane === lane && session.state === 'live');
  const last = usable.at(-1);
  return last !== undefined && now < last.windowUntil ? last : null;
}
