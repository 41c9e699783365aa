import type { EventKind } from '../../protocol/mqtt/event.ts';

type Detail = Readonly<Record<string, unknown>>;

/** The fields of events that are added up when several are published as one. */
const SUMMED: Partial<Record<EventKind, readonly string[]>> = { speech_dropped: ['sentences', 'dropped_ms'] };

/** For events that begin or end a state: the event that begins it, and the field that names the state. */
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

/** Sums the figures of events that are not published; the next published event contains the sums. */
export interface EventSums {
  /**
   * The name under which events are counted together. The beginning and the end of a state share it, so that the last
   * published event shows the present state.
   */
  nameOf(kind: EventKind, detail: Detail): string;
  /** @returns the sums of all unpublished events, this one included */
  add(kind: EventKind, detail: Detail): Record<string, number>;
  /** Clears the sums, because they were published. */
  told(name: string): void;
}

export function createEventSums(): EventSums {
  const untold = new Map<string, Record<string, number>>();
  /** An ongoing loss is not added up: the event at its end includes it. */
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
