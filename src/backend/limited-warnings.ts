import type { Clock } from '../ports/clock.ts';
import type { Log } from '../ports/log.ts';

/** Default interval between two warnings of one kind (ms). */
const QUIET_MS = 60_000;
const MOST_KINDS = 1000;

/** Logs a warning that may repeat without end: one in each quiet time and of each kind, with the number of those left out. */
export type Complain = (kind: string, fields: object, sentence: string) => void;

export function createLimitedWarnings(log: Log, clock: Clock, quietMs = QUIET_MS): Complain {
  const kinds = new Map<string, { until: number; more: number }>();
  return (kind, fields, sentence) => {
    const now = clock.now();
    const known = kinds.get(kind);
    if (known !== undefined && now < known.until) {
      known.more += 1;
      return;
    }
    if (kinds.size >= MOST_KINDS) kinds.clear();
    kinds.set(kind, { until: now + quietMs, more: 0 });
    log.warn({ ...fields, ...(known && known.more > 0 && { more: known.more }) }, sentence);
  };
}
