/**
 * Sessions that one device has had, and those that it may still have. The backend does not learn when a stream ends.
 * Therefore a session counts until its latest possible end, unless it has been revoked.
 */
import { type DenialCode, denial } from '../../../protocol/mqtt/denials.ts';
import type { TokenError, TokenRequest } from '../../../protocol/mqtt/token.ts';
import type { Allowance } from './policy.ts';

const HOUR_MS = 3_600_000;
/** Time for which a lane may need two sessions at a rollover (ms): the newer one starts, the older one finishes speaking. */
const OVERLAP_MS = 90_000;
/** Time between the session ends of a device's lanes (ms), so that rollovers with two sessions each do not coincide. */
const APART_MS = 120_000;
/** Shortest session whose end is moved (ms); shorter ones leave no room for it. */
const SHORTEST_MOVED_MS = 600_000;
const SLOW_RETRY_S = 300;
const SHORTEST_RETRY_S = 5;

export interface GrantedSession {
  readonly id: string;
  readonly lane: string;
  readonly at: number;
  /** Latest end of its stream, if the stream begins at once. */
  readonly endsAt: number;
  /** Latest end of its stream, if the stream begins at the end of the session's window. */
  readonly overAt: number;
  /** It replaces the lane's previous session, which continues for a while. */
  readonly isRollover: boolean;
  /** It is being revoked. */
  leaving: boolean;
}

export interface Account {
  /** Oldest first. */
  granted: GrantedSession[];
  /** Times of the grants within the last hour. */
  grants: number[];
  /** Other lanes for which a session is being created, with the time at which that session's stream ends. */
  readonly working: ReadonlyMap<string, number>;
}

/** Why the device may have no further session for this lane now; null if it may. */
export function checkAccount(
  account: Account,
  { lanes, sessionsPerHour }: Allowance,
  lane: string,
  now: number,
): TokenError | null {
  forgetOver(account, now);
  const busy = new Set([...account.granted.map((session) => session.lane), ...account.working.keys()]);
  if (!busy.has(lane) && busy.size >= lanes) {
    const detail = `this device already has sessions for its lanes ${[...busy].sort().join(', ')}, and may have ${lanes}; the owner can raise limits.lanes`;
    return denial('lane_limit_reached', detail, SLOW_RETRY_S);
  }
  const first = account.grants[0] ?? now;
  if (account.grants.length + account.working.size >= sessionsPerHour) {
    const detail = `this device has reached its limit of sessions in an hour (${sessionsPerHour}); the owner can raise limits.sessionsPerHour`;
    return limit('hourly_limit_reached', detail, first + HOUR_MS - now);
  }
  return null;
}

export type Room = { ok: true; revoke: readonly string[] } | { ok: false; error: TokenError };

/**
 * Makes room for one more session by revoking replaced sessions, oldest first. It never revokes the session that a lane uses,
 * nor the session that takes over during a rollover.
 */
export function makeRoom(
  account: Account,
  { sessionsAtOnce }: Allowance,
  { lane, reason }: Pick<TokenRequest, 'lane' | 'reason'>,
  now: number,
): Room {
  forgetOver(account, now);
  const alive = account.granted.filter(({ leaving }) => !leaving);
  const made = [...account.working].filter(([name]) => name !== lane);
  const excess = alive.length + made.length + 1 - sessionsAtOnce;
  if (excess <= 0) return { ok: true, revoke: [] };
  const needed = new Set(neededBy(alive, lane, reason, now));
  const spare = alive.filter((session) => !needed.has(session)).slice(0, excess);
  if (spare.length < excess) {
    const detail = `this device already has ${sessionsAtOnce} sessions, its limit; the owner can raise limits.sessionsAtOnce`;
    const waits = alive.map((session) => freeAt(session) - now).filter((waitMs) => waitMs > 0);
    const waitMs = Math.min(OVERLAP_MS, ...waits);
    return {
      ok: false,
      error: limit('device_sessions_limit_reached', detail, waitMs),
    };
  }
  for (const session of spare) session.leaving = true;
  return { ok: true, revoke: spare.map(({ id }) => id) };
}

/**
 * Longest duration of the stream: the configured one, or less if the stream would end together with another lane's.
 * @param durationMs the configured duration
 */
export function chooseDurationMs(account: Account, lane: string, durationMs: number, now: number): number {
  if (durationMs < SHORTEST_MOVED_MS) return durationMs;
  const ends = [
    ...account.granted.filter((session) => session.lane !== lane).map(({ endsAt }) => endsAt),
    ...[...account.working].flatMap(([name, endsAt]) => (name === lane ? [] : [endsAt])),
  ];
  let chosen = durationMs;
  // Latest first: moving away from one end may cause a conflict with an earlier one.
  for (const end of ends.sort((one, other) => other - one)) {
    if (Math.abs(now + chosen - end) < APART_MS) chosen = end - APART_MS - now;
  }
  return chosen < durationMs / 2 ? durationMs : chosen;
}

/** Sessions that a device still uses, or is about to use, when it asks for this lane. */
function neededBy(
  alive: readonly GrantedSession[],
  lane: string,
  reason: TokenRequest['reason'],
  now: number,
): GrantedSession[] {
  const lanes = new Set(alive.map((session) => session.lane));
  return [...lanes].flatMap((name) => {
    const own = alive.filter((session) => session.lane === name);
    const newest = own.at(-1);
    const settled = own.findLast((session) => now >= freeAt(session)) ?? own[0];
    if (newest === undefined || settled === undefined) return [];
    // A lane that requests a rollover is still using its settled session; a lane that requests a session for any other
    // reason is using none.
    if (name === lane) return reason === 'rollover' ? [settled] : [];
    return settled === newest || !newest.isRollover ? [newest] : [newest, settled];
  });
}

/** End of the rollover to this session; after it the lane's older session can go. */
function freeAt({ at, endsAt }: GrantedSession): number {
  return at + Math.min(OVERLAP_MS, (endsAt - at) / 2);
}

function forgetOver(account: Account, now: number): void {
  account.granted = account.granted.filter(({ overAt }) => overAt > now);
  account.grants = account.grants.filter((at) => at > now - HOUR_MS);
}

function limit(code: DenialCode, detail: string, waitMs: number): TokenError {
  return denial(code, detail, Math.max(SHORTEST_RETRY_S, Math.ceil(waitMs / 1000)));
}
