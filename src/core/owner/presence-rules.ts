/** What a device hears of itself: its own status topic tells of old connections, and of others that use its name. */
import { UNDISPUTED_AFTER_MS } from '../retry/reconnect.ts';

/** A status, as far as it counts here. */
export interface HeardStatus {
  readonly status: string;
  readonly boot_id: string;
  readonly conn_seq: number;
}

export interface OwnStatus {
  readonly bootId: string;
  readonly connection: number;
  /** The broker had a status of this start of the agent before the present connection began. */
  readonly wasTold: boolean;
  /** The status of another start of the agent, or of another device, that was heard last. */
  readonly foreign: HeardStatus | null;
}

export interface StatusVerdict {
  /** What the broker keeps as this device's status is wrong: it has to be said again. */
  readonly isWrong: boolean;
  /** Another device that says it is this one; null: none. */
  readonly otherBootId: string | null;
}

const FINE: StatusVerdict = { isWrong: false, otherBootId: null };
const WRONG: StatusVerdict = { isWrong: true, otherBootId: null };
/** What is said of a device that is not there. */
const GONE = ['lost', 'offline'];

/**
 * Judges what comes on the device's own status topic.
 * @param heard null: it is no status
 * @param isRetained what the broker had when the device subscribed: its own status follows anyway
 */
export function judgeStatus(
  heard: HeardStatus | null,
  isRetained: boolean,
  { bootId, connection, wasTold, foreign }: OwnStatus,
): StatusVerdict {
  if (heard === null) return isRetained ? FINE : WRONG;
  if (heard.boot_id === bootId) {
    const isPresent = heard.conn_seq === connection && !GONE.includes(heard.status);
    return isRetained || isPresent ? FINE : WRONG;
  }
  const other = { isWrong: false, otherBootId: heard.boot_id };
  if (GONE.includes(heard.status)) {
    // A will may be late, and of the agent before this one; but what connects again, as its number tells, is alive.
    const isAlive =
      foreign !== null && foreign.boot_id === heard.boot_id && heard.conn_seq > foreign.conn_seq;
    return { isWrong: !isRetained, otherBootId: isAlive ? heard.boot_id : null };
  }
  // Before its own first word it finds what the agent before it has said. A word of another one is not answered by its
  // own: two that hear each other would never stop.
  return isRetained && !wasTold ? FINE : other;
}

/** Whether another device uses this one's name. */
export interface IdentityState {
  /** When that was seen last, monotonic milliseconds; null: never, or not for long. */
  readonly seenAt: number | null;
  /** Since when the connection is up; null: it is not. */
  readonly upSince: number | null;
}

export const UNDISPUTED: IdentityState = { seenAt: null, upSince: null };

export function noteOtherSeen(state: IdentityState, now: number): IdentityState {
  return { ...state, seenAt: now };
}

export function noteConnection(state: IdentityState, isUp: boolean, now: number): IdentityState {
  return { ...state, upSince: isUp ? now : null };
}

/** When the other one counts as gone if nothing more is seen of it; null: there is none, or the connection is down. */
export function undisputedAt({ seenAt, upSince }: IdentityState): number | null {
  return seenAt === null || upSince === null ? null : Math.max(seenAt, upSince) + UNDISPUTED_AFTER_MS;
}

/** Forgets the other one where its time has passed. */
export function settleIdentity(state: IdentityState, now: number): IdentityState {
  const at = undisputedAt(state);
  return at !== null && now >= at ? { ...state, seenAt: null } : state;
}
