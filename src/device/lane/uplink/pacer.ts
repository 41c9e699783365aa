/**
 * Keeps a sender at real time. The service wants one chunk per chunk duration (docs/service.md 8), but a microphone's clock may
 * run a little fast, and chunks arrive with jitter. So this is a leaky bucket (GCRA): on average no faster than real time plus the
 * drift allowance, and never more than two chunks early. A backlog is sent strictly in time; only the newest chunk may be early.
 * Otherwise a backlog would use the allowance up, and every chunk after it would have to wait.
 */
export interface Pacer {
  /** When the next chunk would be due if the sender were exactly on time. */
  readonly dueAt: number;
}

/** Drift allowance (share of real time): sound cards run up to 0.03 % fast (measured). */
const DRIFT_ALLOWANCE = 0.001;

/** How early the newest chunk may be sent (chunks): two, and a little for inexact timers. */
export const EARLY_CHUNKS = 2.1;

/** A pacer that has not sent anything: the first chunk may be sent at once. */
export const IDLE_PACER: Pacer = { dueAt: Number.NEGATIVE_INFINITY };

/**
 * The earliest moment at which the next chunk may be sent.
 * @param isNewest whether it is the last one that was captured
 */
export function earliestSend(pacer: Pacer, chunkMs: number, isNewest: boolean): number {
  return isNewest ? pacer.dueAt - EARLY_CHUNKS * chunkMs : pacer.dueAt;
}

/** Accounts for a chunk sent at `now`. */
export function recordSend(pacer: Pacer, now: number, chunkMs: number): Pacer {
  return { dueAt: Math.max(pacer.dueAt, now) + chunkMs * (1 - DRIFT_ALLOWANCE) };
}
