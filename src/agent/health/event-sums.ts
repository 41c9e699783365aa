import type { EventKind } from '../../protocol/mqtt/event.ts';

type Detail = Readonly<Record<string, unknown>>;

/** What of an event is added up where several are told as one. */
const SUMMED: Partial<Record<EventKind, readonly string[]>> = { speech_dropped: ['sentences', 'dropped_ms'] };

/** The event that says that something is over, by the one that said that it began, and the field of both that tells what. */
const ENDS: Partial<Record<EventKind, readonly [begin: EventKind, what: string]>> = Object.fromEntries(
  (
    [
      ['audio_lost', 'audio_back', 'device'],
      ['capture_problem', 'capture_problem_over', 'finding'],
      ['config_problem', 'config_problem_over', 'lane'],
      ['disk_problem', 'disk_problem_over', 'what'],
      ['backend_silent', 'backend_back', 'lane'],
    ] as const
  ).flatMap(([begin, end, what]) => [begin, end].map((kind) => [kind, [begin, what]])),
);

/** Adds up what events count, from one that is told to the next: one that stands for several tells the sum. */
export interface EventSums {
  /**
   * Under which name events are counted together: of those that tell that something begins and is over, both, so that the last
   * one told is how it is.
   */
  nameOf(kind: EventKind, detail: Detail): string;
  /** @returns the sums, this event included, of all that is not told */
  add(kind: EventKind, detail: Detail): Record<string, number>;
  /** They are told. */
  told(name: string): void;
}

export function createEventSums(): EventSums {
  const untold = new Map<string, Record<string, number>>();
  /** What goes on tells the sum of its own. */
  const isSummed = (kind: EventKind, { ongoing }: Detail): boolean =>
    SUMMED[kind] !== undefined && ongoing !== true;
  const nameOf = (kind: EventKind, detail: Detail): string => {
    const [begin, what] = ENDS[kind] ?? [kind, null];
    const subject = what === null ? '' : `:${String(detail[what])}`;
    const name = `event:${begin}:${String(detail['lane'])}${subject}`;
    return isSummed(kind, detail) ? `${name}:${String(detail['why'])}` : name;
  };
  return {
    nameOf,
    add(kind, detail) {
      if (!isSummed(kind, detail)) return {};
      const name = nameOf(kind, detail);
      const before = untold.get(name) ?? {};
      const sums = Object.fromEntries(
        (SUMMED[kind] ?? []).map((field) => [field, (before[field] ?? 0) + Number(detail[field] ?? 0)]),
      );
      untold.set(name, sums);
      return sums;
    },
    told: (name) => void untold.delete(name),
  };
}
