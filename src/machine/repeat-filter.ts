import type { Clock } from '../ports/clock.ts';
import type { Log } from '../ports/log.ts';

/** Interval of reports for one kind (ms); each report has the count since the previous one. */
const TELL_EVERY_MS = 60_000;
/** Maximum number of kinds: further ones share one count. Only a safeguard: kinds come from our own tables. */
const MOST_KINDS = 256;

/**
 * The rate limit of all events and log lines. The first ones of each kind are reported at once. Further ones are counted, and
 * the last of them is reported at the end of the minute, with the count. No input can exceed this rate.
 */
export interface RepeatFilter {
  /**
   * @param say reports the event or line; `repeated` is 0, or the number since the last report, including this one
   * @param atOnce how many of the kind are reported without delay each minute (default: 1)
   */
  tell(kind: string, say: (repeated: number) => void, atOnce?: number): void;
  /** Reports all pending counts; from here on only the first of a kind is reported. */
  close(): void;
}

interface Kind {
  /** Start of the kind's present minute. */
  since: number;
  reported: number;
  counted: number;
  last: (repeated: number) => void;
  cancel(): void;
}

export function createRepeatFilter(clock: Clock): RepeatFilter {
  const kinds = new Map<string, Kind>();
  let isClosed = false;

  const isOver = ({ since, counted }: Kind): boolean => counted === 0 && clock.now() - since >= TELL_EVERY_MS;
  const begin = (name: string, say: Kind['last']): Kind => {
    const kind: Kind = { since: clock.now(), reported: 0, counted: 0, last: say, cancel: () => {} };
    if (kinds.size >= MOST_KINDS) {
      for (const [other, old] of kinds) if (isOver(old)) kinds.delete(other);
    }
    kinds.set(name, kind);
    return kind;
  };
  const endOfMinute = (kind: Kind): void => {
    const { counted } = kind;
    Object.assign(kind, { since: clock.now(), reported: 1, counted: 0 });
    kind.last(counted);
  };

  return {
    tell(given, say, atOnce = 1) {
      const name = kinds.has(given) || kinds.size < MOST_KINDS ? given : 'others';
      const running = kinds.get(name);
      const kind = running === undefined || isOver(running) ? begin(name, say) : running;
      if (kind.reported < atOnce) {
        kind.reported += 1;
        say(0);
        return;
      }
      // After the close, there is no report at the end of the minute.
      if (isClosed) return;
      kind.last = say;
      kind.counted += 1;
      if (kind.counted > 1) return;
      // The timer may fire late: nothing depends on its time.
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

/** Number of a lane's ordinary events per minute that are reported one by one: a person may be watching. */
export const ORDINARY_A_MINUTE = 5;

/** A rate-limited log line. */
export interface RepeatedLine {
  readonly level: 'debug' | 'info' | 'warn' | 'error';
  readonly kind: string;
  readonly fields: object;
  readonly sentence: string;
  /** Default: 1. */
  readonly atOnce?: number;
}

/** Logs a line, unless its kind has reached the limit of this minute. */
export function logRepeated(deps: { log: Log; repeats: RepeatFilter }, line: RepeatedLine): void {
  const { level, kind, fields, sentence, atOnce } = line;
  const say = (repeated: number): void => deps.log[level](withRepeats(fields, repeated), sentence);
  deps.repeats.tell(`log:${kind}`, say, atOnce);
}

/** The fields of the line, with the number of repeats. */
export function withRepeats<T extends object>(fields: T, repeated: number): T & { repeated?: number } {
  return repeated === 0 ? fields : { ...fields, repeated };
}
