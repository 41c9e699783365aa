/** Sessions of all devices that have been made and, as far as is known, not been used. */
import type { TokenError } from '../../protocol/mqtt/token.ts';

interface Pending {
  readonly device: string;
  readonly isStranger: boolean;
  readonly until: number;
}

export interface PendingSessions {
  /** Why no further session may be made for a device; null when it may. */
  check(device: string, isStranger: boolean, now: number): TokenError | null;
  add(id: string, session: Pending): void;
  remove(ids: readonly string[]): void;
}

/** @param most of all devices together; one device, or all that are unknown devices, get half of it */
export function countPending(most: number): PendingSessions {
  const sessions = new Map<string, Pending>();
  const share = Math.floor(most / 2);
  const denial = (among: readonly Pending[], detail: string, now: number): TokenError => ({
    ...{ code: 'pending_sessions_limit_reached', title: 'Too many sessions are made and not used' },
    ...{ detail: `${detail} (limits.pendingSessions)`, final: false },
    retry_after_s: Math.max(1, Math.ceil((Math.min(...among.map(({ until }) => until)) - now) / 1000)),
  });
  return {
    check(device, isStranger, now) {
      for (const [id, { until }] of sessions) if (until <= now) sessions.delete(id);
      const all = [...sessions.values()];
      const own = all.filter((session) => session.device === device);
      if (own.length >= share) return denial(own, `this device has ${own.length} unused sessions`, now);
      if (all.length >= most)
        return denial(all, `all devices together have ${all.length} unused sessions`, now);
      const strange = all.filter((session) => session.isStranger);
      return isStranger && strange.length >= share
        ? denial(strange, `devices that had no session before have ${strange.length} unused ones`, now)
        : null;
    },
    add: (id, session) => void sessions.set(id, session),
    remove: (ids) => {
      for (const id of ids) sessions.delete(id);
    },
  };
}
