/** The limit on pending sessions: those that are created but not known to be used. */
import type { DeviceBook, UnusedCounts } from '../../../ports/store.ts';
import { denial } from '../../../protocol/mqtt/denials.ts';
import type { TokenError } from '../../../protocol/mqtt/token.ts';

interface Limit {
  /** For all devices together. One device, or all devices without an earlier session together, get half of the limit. */
  readonly mostPending: number;
  readonly isUnknown: boolean;
}

/** Why no further session may be created for a lane; null if one may. The lane's own unused sessions do not count. */
export function checkPending(
  { mints, sessions }: DeviceBook,
  lane: string,
  { all, unknown }: UnusedCounts,
  { mostPending, isUnknown }: Limit,
  now: number,
): TokenError | null {
  const share = Math.floor(mostPending / 2);
  const unused = sessions.filter(({ isPending, windowUntil }) => isPending && windowUntil > now);
  const making = mints.filter(({ state, recheckAt }) => state === 'making' || recheckAt !== null);
  const replaced = unused.filter((session) => session.lane === lane);
  const retried = making.filter((row) => row.lane === lane).length;
  const own = unused.length + making.length - replaced.length - retried;
  const everywhere = all.count - replaced.length - retried;
  const ofUnknown = unknown.count - replaced.filter((session) => session.isUnknown).length - retried;
  const tooMany = (detail: string, firstUntil: number): TokenError =>
    denial(
      'pending_sessions_limit_reached',
      `${detail} (limits.pendingSessions)`,
      Math.max(1, Math.ceil((firstUntil - now) / 1000)),
    );
  if (own >= share) {
    const first = Math.min(
      ...unused.filter((session) => session.lane !== lane).map(({ windowUntil }) => windowUntil),
    );
    return tooMany(`this device has ${own} unused sessions`, Number.isFinite(first) ? first : now);
  }
  if (everywhere >= mostPending)
    return tooMany(`all devices together have ${everywhere} unused sessions`, all.firstUntil);
  return isUnknown && ofUnknown >= share
    ? tooMany(`new devices together have ${ofUnknown} unused sessions`, unknown.firstUntil)
    : null;
}
