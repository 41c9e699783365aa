/** Sessions of all devices that were made and, as far as is known, not used. */
import type { TokenError } from '../../protocol/mqtt/token.ts';

interface Pending {
  readonly device: string;
  readonly isUnknown: boolean;
  readonly until: number;
}

export interface PendingSessions {
  /** Why no further session may be made for a device; null if it may. */
  check(device: string, isUnknown: boolean, now: number): TokenError | null;
  add(id: string, session: Pending): void;
  remove(ids: readonly string[]): void;
}

/** @param most limit for all devices together. One device, or all unknown devices together, get half of it. */
export function countPending(most: number): PendingSessions {
  const sessions = new Map<string, Pending>();
  const share = Math.floor(most / 2);
  const denial = (among: readonly Pending[], detail: string, now: number): TokenError => ({
    ...{ code: 'pending_sessions_limit_reached', title: 'Too many sessions are made and not used' },
    ...{ detail: `${detail} (limits.pendingSessions)`, final: false },
    retry_after_s: Math.max(1, Math.ceil((Math.min(...among.map(({ until }) => until)) - now) / 1000)),
  });
  return {
    check(device, isUnknown, now) {
      for (const [id, { until }] of sessions) if (until <= now) sessions.delete(id);
      const all = [...sessions.values()];
      const own = all.filter((session) => session.device === device);
      if (own.length >= share) return denial(own, `this device has ${own.length} unused sessions`, now);
      if (all.length >= most)
        return denial(all, `all devices together have ${all.length} unused sessions`, now);
      const unknown = all.filter((session) => session.isUnknown);
      return isUnknown && unknown.length >= share
        ? denial(unknown, `devices that had no session before have ${unknown.length} unused ones`, now)
        : null;
    },
    add: (id, session) => void sessions.set(id, session),
    remove: (ids) => {
      for (const id of ids) sessions.delete(id);
    },
  };
}
