import type { Clock } from '../ports/clock.ts';
import type { Log } from '../ports/log.ts';

/** What has been told is told again after this long at the earliest, with how often it happened meanwhile. */
const TELL_EVERY_MS = 60_000;
/** Kinds come from our own tables; should one come from outside, more than these share one count. */
const MOST_KINDS = 256;

/**
 * The one rule against floods, for events and log lines: of each kind the first are told at once, the rest of the
 * minute is counted, and the last of them is told at its end, with the count. Whatever somebody sends, it costs no more.
 */
export interface RepeatFilter {
  /**
   * @param say tells it; `repeated` is 0, or how often it has happened since the last one told, this one included
   * @param atOnce how many of the kind are told at once in a minute (left out: 1)
   */
  tell(kind: string, say: (repeated: number) => void, atOnce?: number): void;
  /** Tells what is still counted; from here on the first of a kind is told, and no more. */
  close(): void;
}

interface Kind {
  /** When its minute began. */
  since: number;
  told: number;
  counted: number;
  last: (repeated: number) => void;
  cancel(): void;
}

export function createRepeatFilter(clock: Clock): RepeatFilter {
  const kinds = new Map<string, Kind>();
  let isClosed = false;

  const isOver = ({ since, counted }: Kind): boolean => counted === 0 && clock.now() - since >= TELL_EVERY_MS;
  const begin = (name: string, say: Kind['last']): Kind => {
    const kind: Kind = { since: clock.now(), told: 0, counted: 0, last: say, cancel: () => {} };
    if (kinds.size >= MOST_KINDS) {
      for (const [other, old] of kinds) if (isOver(old)) kinds.delete(other);
    }
    kinds.set(name, kind);
    return kind;
  };
  const endOfMinute = (kind: Kind): void => {
    const { counted } = kind;
    Object.assign(kind, { since: clock.now(), told: 1, counted: 0 });
    kind.last(counted);
  };

  return {
    tell(given, say, atOnce = 1) {
      const name = kinds.has(given) || kinds.size < MOST_KINDS ? given : 'others';
      const found = kinds.get(name);
      const kind = found === undefined || isOver(found) ? begin(name, say) : found;
      if (kind.told < atOnce) {
        kind.told += 1;
        say(0);
        return;
      }
      // Nobody is there any more at the end of the minute.
      if (isClosed) return;
      kind.last = say;
      kind.counted += 1;
      if (kind.counted > 1) return;
      // It may come late: nobody waits for it.
      kind.cancel = clock.at(kind.since + TELL_EVERY_MS, () => endOfMinute(kind), TELL_EVERY_MS / 10);
    },
    close() {
      isClosed = true;
      for (const { cancel, counted, last } of kinds.values()) {
        cancel();
        if (counted > 0) last(counted);
      }
      kinds.clear();
    },
  };
}

/** Of what belongs to a lane's ordinary life, this many are told one by one: whoever watches wants to see them. */
export const ORDINARY_A_MINUTE = 5;

/** What is logged under the rule. */
export interface RepeatedLine {
  readonly level: 'debug' | 'info' | 'warn' | 'error';
  readonly kind: string;
  readonly fields: object;
  readonly sentence: string;
  /** Left out: 1. */
  readonly atOnce?: number;
}

/** Logs a line, unless there were enough of its kind in this minute. */
export function logRepeated(deps: { log: Log; repeats: RepeatFilter }, line: RepeatedLine): void {
  const { level, kind, fields, sentence, atOnce } = line;
  const say = (repeated: number): void => deps.log[level](withRepeats(fields, repeated), sentence);
  deps.repeats.tell(`log:${kind}`, say, atOnce);
}

/** The fields of what is told, and how often it happened. */
export function withRepeats<T extends object>(fields: T, repeated: number): T & { repeated?: number } {
  return repeated === 0 ? fields : { ...fields, repeated };
}
