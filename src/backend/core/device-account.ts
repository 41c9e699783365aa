/**
 * What one device has had of sessions, and what it may still have. Nobody tells the backend when a stream ends, so that
 * a session counts until its longest end, unless it has been revoked.
 */
import type { TokenError, TokenRequest } from '../../protocol/mqtt/token.ts';
import type { Allowance } from './policy.ts';

const HOUR_MS = 3_600_000;
/** This long a lane may need two sessions for a rollover: the newer one to begin, the older one to finish speaking. */
const OVERLAP_MS = 90_000;
/** Sessions of a device's lanes end so far apart, so that their rollovers, two sessions each, do not meet. */
const APART_MS = 120_000;
/** Shorter sessions than this have no room to be moved apart. */
const SHORTEST_MOVED_MS = 600_000;
const SLOW_RETRY_S = 300;
const SHORTEST_RETRY_S = 5;

export interface GrantedSession {
  readonly id: string;
  readonly lane: string;
  readonly at: number;
  /** When its stream ends at the latest, if it begins at once; and if it begins at the end of its window. */
  readonly endsAt: number;
  readonly overAt: number;
  /** It takes over from the lane's session before, which goes on for a while. */
  readonly isRollover: boolean;
  /** It is being revoked. */
  leaving: boolean;
}

export interface Account {
  /** In the order in which they were granted. */
  granted: GrantedSession[];
  /** Moments of the last hour in which sessions were granted. */
  grants: number[];
  /** Lanes whose session is wanted, and when its stream will end; null while it waits for its turn. */
  readonly working: Map<string, number | null>;
}

export function openAccount(): Account {
  return { granted: [], grants: [], working: new Map() };
}

export function noteGrant(account: Account, session: Omit<GrantedSession, 'leaving'>): void {
  forgetOver(account, session.at);
  account.granted.push({ ...session, leaving: false });
  account.grants.push(session.at);
}

/** These are known to be gone from the service. */
export function noteGone(account: Account, ids: readonly string[]): void {
  if (ids.length > 0) account.granted = account.granted.filter(({ id }) => !ids.includes(id));
}

/** Why the device may have no further session for this lane now; null when it may. */
export function checkAccount(
  account: Account,
  { lanes, sessionsPerHour }: Allowance,
  lane: string,
  now: number,
): TokenError | null {
  forgetOver(account, now);
  const busy = new Set([...account.granted.map((session) => session.lane), ...account.working.keys()]);
  if (!busy.has(lane) && busy.size >= lanes) {
    const detail = `this device has sessions for its ${lanes} lanes (${[...busy].sort().join(', ')}); the owner can raise limits.lanes`;
    return {
      code: 'lane_limit_reached',
      title: 'Too many lanes',
      detail,
      final: true,
      retry_after_s: SLOW_RETRY_S,
    };
  }
  const first = account.grants[0] ?? now;
  if (account.grants.length + account.working.size >= sessionsPerHour) {
    const detail = `this device has had its ${sessionsPerHour} sessions of the last hour; the owner can raise limits.sessionsPerHour`;
    return limit('hourly_limit_reached', 'Too many sessions within an hour', detail, first + HOUR_MS - now);
  }
  return null;
}

export type Room = { ok: true; revoke: readonly string[] } | { ok: false; error: TokenError };

/**
 * Makes room for one more session: those that have been replaced go, oldest first. The session that a lane speaks over is
 * never among them, nor during a rollover the one that takes over from it.
 */
export function makeRoom(
  account: Account,
  { sessionsAtOnce }: Allowance,
  { lane, reason }: Pick<TokenRequest, 'lane' | 'reason'>,
  now: number,
): Room {
  forgetOver(account, now);
  const alive = account.granted.filter(({ leaving }) => !leaving);
  const made = [...account.working].filter(([name, endsAt]) => name !== lane && endsAt !== null);
  const excess = alive.length + made.length + 1 - sessionsAtOnce;
  if (excess <= 0) return { ok: true, revoke: [] };
  const needed = new Set(neededBy(alive, lane, reason, now));
  const spare = alive.filter((session) => !needed.has(session)).slice(0, excess);
  if (spare.length < excess) {
    const detail = `this device has its ${sessionsAtOnce} sessions at once; the owner can raise limits.sessionsAtOnce`;
    const waits = alive.map((session) => freeAt(session) - now).filter((waitMs) => waitMs > 0);
    const waitMs = Math.min(OVERLAP_MS, ...waits);
    return {
      ok: false,
      error: limit('device_sessions_limit_reached', 'Too many sessions at once', detail, waitMs),
    };
  }
  for (const session of spare) session.leaving = true;
  return { ok: true, revoke: spare.map(({ id }) => id) };
}

/**
 * How long the stream may be: as long as the terms say, or less where it would end together with another lane's.
 * @param durationMs what the terms say
 */
export function chooseDurationMs(account: Account, lane: string, durationMs: number, now: number): number {
  if (durationMs < SHORTEST_MOVED_MS) return durationMs;
  const ends = [
    ...account.granted.filter((session) => session.lane !== lane).map(({ endsAt }) => endsAt),
    ...[...account.working].flatMap(([name, endsAt]) => (name === lane || endsAt === null ? [] : [endsAt])),
  ];
  let chosen = durationMs;
  // From the latest on: what is moved out of the way of one may be in the way of an earlier one.
  for (const end of ends.sort((one, other) => other - one)) {
    if (Math.abs(now + chosen - end) < APART_MS) chosen = end - APART_MS - now;
  }
  return chosen < durationMs / 2 ? durationMs : chosen;
}

/** Which sessions a device that asks for this lane still speaks over, or is about to. */
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
    // A lane that asks has no use for what it was given last; all it may still speak over is the one before.
    if (name === lane) return reason === 'rollover' ? [settled] : [];
    return settled === newest || !newest.isRollover ? [newest] : [newest, settled];
  });
}

/** When a rollover to this session is over, and the older one of its lane can go. */
function freeAt({ at, endsAt }: GrantedSession): number {
  return at + Math.min(OVERLAP_MS, (endsAt - at) / 2);
}

function forgetOver(account: Account, now: number): void {
  account.granted = account.granted.filter(({ overAt }) => overAt > now);
  account.grants = account.grants.filter((at) => at > now - HOUR_MS);
}

function limit(code: string, title: string, detail: string, waitMs: number): TokenError {
  const retry_after_s = Math.max(SHORTEST_RETRY_S, Math.ceil(waitMs / 1000));
  return { code, title, detail, final: false, retry_after_s };
}
