import type { Clock } from '../ports/clock.ts';
import type { Log } from '../ports/log.ts';

const QUIET_MS = 60_000;
const MOST_KINDS = 1000;

/** Logs a warning that outsiders can cause: one a minute of each kind, with the number of those left out. */
export type Complain = (kind: string, fields: object, sentence: string) => void;

export function createLimitedWarnings(log: Log, clock: Clock): Complain {
  const kinds = new Map<string, { until: number; more: number }>();
  return (kind, fields, sentence) => {
    const now = clock.now();
    const known = kinds.get(kind);
    if (known !== undefined && now < known.until) {
      known.more += 1;
      return;
    }
    if (kinds.size >= MOST_KINDS) kinds.clear();
    kinds.set(kind, { until: now + QUIET_MS, more: 0 });
    log.warn({ ...fields, ...(known && known.more > 0 && { more: known.more }) }, sentence);
  };
}
