import type { Clock } from '../ports/clock.ts';
import type { Log } from '../ports/log.ts';

/** Default interval between two warnings of one kind (ms). */
const QUIET_MS = 60_000;
/** Maximum number of kinds per sentence: without logins anyone can invent device names, and the log would fill the disk. */
const MOST_KINDS = 100;
/** Maximum number of sentences: some of them quote the broker. */
const MOST_SENTENCES = 1000;

/** Logs a repeating warning at most once per interval and kind, with the number of suppressed ones. */
export type Complain = (kind: string, fields: object, sentence: string) => void;

interface Last {
  readonly until: number;
  more: number;
}

export function createLimitedWarnings(log: Log, clock: Clock, quietMs = QUIET_MS): Complain {
  /** Last warning by sentence and kind, oldest first. */
  const sentences = new Map<string, Map<string, Last>>();
  /** Last warning about too many kinds, by sentence. Separate, because `makeRoom` must not drop it. */
  const beyond = new Map<string, Last>();

  const warn = (known: Map<string, Last>, kind: string, fields: object, sentence: string): void => {
    const now = clock.now();
    const last = known.get(kind);
    if (last !== undefined && now < last.until) {
      last.more += 1;
      return;
    }
    known.delete(kind);
    known.set(kind, { until: now + quietMs, more: 0 });
    log.warn({ ...fields, ...(last && last.more > 0 && { more: last.more }) }, sentence);
  };
  const makeRoom = (known: Map<string, Last>): void => {
    for (const [kind, { until }] of known) {
      if (known.size < MOST_KINDS || clock.now() < until) return;
      known.delete(kind);
    }
  };

  return (kind, fields, sentence) => {
    const known = sentences.get(sentence) ?? new Map<string, Last>();
    if (sentences.size >= MOST_SENTENCES) sentences.clear();
    sentences.set(sentence, known);
    makeRoom(known);
    if (known.has(kind) || known.size < MOST_KINDS) return warn(known, kind, fields, sentence);
    if (beyond.size >= MOST_SENTENCES) beyond.clear();
    warn(
      beyond,
      sentence,
      { warning: sentence },
      'too many warnings like this one: further ones are left out',
    );
  };
}
