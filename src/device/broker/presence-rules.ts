/** Judges messages on the device's own status topic: do they come from an old connection, or from another device with the same name? */

/** The relevant fields of a status. */
export interface HeardStatus {
  readonly status: string;
  readonly boot_id: string;
  readonly conn_seq: number;
}

export interface OwnStatus {
  readonly bootId: string;
  readonly connection: number;
  /** The last status of another start of the agent, or of another device. */
  readonly foreign: HeardStatus | null;
}

export interface StatusVerdict {
  /** The broker's retained status is wrong: the device must publish its own again. */
  readonly isWrong: boolean;
  /** Another device with the same identity; null: none. */
  readonly otherBootId: string | null;
}

const FINE: StatusVerdict = { isWrong: false, otherBootId: null };
const WRONG: StatusVerdict = { isWrong: true, otherBootId: null };
/** Statuses of a disconnected device. */
const GONE = ['lost', 'offline'];

/**
 * Judges a message on the device's own status topic.
 * @param heard null: it is not a status
 * @param isRetained the broker already had it when the device subscribed: the device publishes its own status anyway
 */
export function judgeStatus(
  heard: HeardStatus | null,
  isRetained: boolean,
  { bootId, connection, foreign }: OwnStatus,
): StatusVerdict {
  if (heard === null) return isRetained ? FINE : WRONG;
  if (heard.boot_id === bootId) {
    const isPresent = heard.conn_seq === connection && !GONE.includes(heard.status);
    return isRetained || isPresent ? FINE : WRONG;
  }
  // A retained status, or a late will, may come from an earlier start of the agent, or from old data that the broker has
  // restored. A new connection of that start proves that another device is alive.
  const isRisen = foreign !== null && foreign.boot_id === heard.boot_id && heard.conn_seq > foreign.conn_seq;
  const isGone = GONE.includes(heard.status);
  // We do not reply to the status of a live device with our own: the two devices would reply to each other forever.
  const isAlive = isRisen || (!isRetained && !isGone);
  return { isWrong: isGone && !isRetained, otherBootId: isAlive ? heard.boot_id : null };
}
