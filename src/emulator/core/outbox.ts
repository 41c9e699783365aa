/** The translation, and its part, to which a piece of speech belongs. */
export interface SpokenPart {
  readonly sentence: string;
  readonly language: string;
  /** Number of languages in which the sentence is spoken. */
  readonly languages: number;
  readonly ms: number;
  readonly isLast: boolean;
}

/** A message to a client; `pcm` is added as base64 at `data.data` when the message is written. */
export interface OutMessage {
  readonly type: string;
  readonly data: Readonly<Record<string, unknown>>;
  readonly pcm?: Uint8Array;
  /** For internal use, not sent. */
  readonly spoken?: SpokenPart;
  /** Whether the sound is sent compressed by zlib. */
  readonly packed?: boolean;
}

interface Waiting<T> {
  readonly dueAt: number;
  readonly item: T;
}

/** Messages that wait until they are due, sorted by time. Bounded: a new message displaces the oldest. */
export interface Outbox<T> {
  readonly length: number;
  /** When the next message is due; Infinity when none waits. */
  readonly nextAt: number;
  /** When the last message is due; 0 when none waits. */
  readonly lastAt: number;
  put(item: T, dueAt: number): void;
  /** Takes one message that is due. */
  take(now: number): T | undefined;
  /** Removes messages for which `unwanted` holds. @returns how many */
  drop(unwanted: (item: T) => boolean): number;
}

/** Taken messages are removed from the front of the list in batches of at least this many. */
const COMPACT_AT = 64;

/** @param most number of messages kept at once */
export function createOutbox<T>(most: number): Outbox<T> {
  let waiting: Waiting<T>[] = [];
  let head = 0;
  const compact = (): void => {
    if (head < COMPACT_AT && head < waiting.length) return;
    waiting = waiting.slice(head);
    head = 0;
  };
  return {
    get length() {
      return waiting.length - head;
    },
    get nextAt() {
      return waiting[head]?.dueAt ?? Number.POSITIVE_INFINITY;
    },
    get lastAt() {
      return waiting.length > head ? (waiting.at(-1)?.dueAt ?? 0) : 0;
    },
    put(item, dueAt) {
      let at = waiting.length;
      while (at > head && (waiting[at - 1]?.dueAt ?? 0) > dueAt) at--;
      if (at === waiting.length) waiting.push({ dueAt, item });
      else waiting.splice(at, 0, { dueAt, item });
      if (waiting.length - head > most) head++;
      compact();
    },
    take(now) {
      const first = waiting[head];
      if (first === undefined || first.dueAt > now) return undefined;
      head++;
      compact();
      return first.item;
    },
    drop(unwanted) {
      const before = waiting.length - head;
      waiting = waiting.slice(head).filter(({ item }) => !unwanted(item));
      head = 0;
      return before - waiting.length;
    },
  };
}
