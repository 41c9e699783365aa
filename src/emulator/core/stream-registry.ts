import { HEALTHY_LINK, type Link } from './effect.ts';
import type { FaultTarget } from './fault-plan.ts';
import type { SessionRecord } from './sessions.ts';
import type { Stream } from './stream.ts';

/** A running stream and what belongs to it. */
export interface Running {
  readonly stream: Stream;
  readonly session: SessionRecord;
  /** Billed time that the account has already paid. */
  charged: number;
  link: Link;
  linkHealsAt: number;
  /** When the stream must be processed next, unless an event comes first. */
  dueAt: number;
}

/** Number of closed streams whose reports are kept. */
const MOST_HISTORY = 500;
/** Number of closed streams whose recordings are kept. */
const MOST_RECORDINGS = 20;

/** When a stream reaches the maximum duration of its session. A stream that is already ending has no limit. */
export function limitAt({ stream, session }: Running): number {
  const { phase } = stream.report;
  if (session.maxDurationMs === null || phase === 'closing' || phase === 'closed')
    return Number.POSITIVE_INFINITY;
  return stream.openedAt + session.maxDurationMs;
}

/** The state of a stream that faults depend on. */
export function targetOf({ stream }: Running): FaultTarget {
  return {
    id: stream.report.id,
    openedAt: stream.openedAt,
    running: stream.report.phase === 'running',
    speaking: stream.speaking,
    sending: stream.sender.waiting > 0,
    betweenLanguages: stream.sender.isBetweenLanguages,
  };
}

/** A connection that a fault impairs, and when the fault ends; null: it does not end by itself. */
export interface Strained {
  readonly stream: string;
  readonly link: { readonly deaf: boolean; readonly read_bytes_per_s: number; readonly mute: boolean };
  readonly heals_in_ms: number | null;
}

export function strainedOf(running: readonly Running[], now: number): Strained[] {
  return running
    .filter(({ link }) => link !== HEALTHY_LINK)
    .map(({ stream, link, linkHealsAt }) => ({
      stream: stream.report.id,
      link: { deaf: link.deaf, read_bytes_per_s: link.readBytesPerS, mute: link.mute },
      heals_in_ms: Number.isFinite(linkHealsAt) ? Math.max(0, Math.round(linkHealsAt - now)) : null,
    }));
}

/** The running streams, those that are due for processing, and the last closed ones. */
export interface StreamRegistry {
  readonly size: number;
  /** A lower bound of the earliest due time. */
  readonly nextAt: number;
  /** The stream opened last, running or not. */
  readonly newest: Stream | undefined;
  add(stream: Stream, session: SessionRecord): void;
  get(id: string): Running | undefined;
  all(): Running[];
  /** Closed streams, oldest first. */
  history(): readonly Stream[];
  /** Marks a stream for processing at the next turn. */
  touch(running: Running): void;
  /** Processes each stream that was touched or is due. Closed ones move to the history, after a call of `bury`. */
  attend(now: number, attend: (running: Running) => void, bury: (running: Running) => void): void;
}

export function createStreamRegistry(): StreamRegistry {
  const running = new Map<string, Running>();
  const history: Stream[] = [];
  const touched = new Set<Running>();
  let earliest = Number.POSITIVE_INFINITY;
  let newest: Stream | undefined;

  const plan = (entry: Running): void => {
    entry.dueAt = Math.min(entry.stream.nextAt, entry.linkHealsAt, limitAt(entry));
    earliest = Math.min(earliest, entry.dueAt);
  };

  const collectDue = (now: number): void => {
    earliest = Number.POSITIVE_INFINITY;
    for (const entry of running.values()) {
      if (entry.dueAt <= now) touched.add(entry);
      else earliest = Math.min(earliest, entry.dueAt);
    }
  };

  const remember = (stream: Stream): void => {
    history.push(stream);
    history.at(-1 - MOST_RECORDINGS)?.recording.clear();
    if (history.length > MOST_HISTORY) history.shift();
  };

  return {
    get size() {
      return running.size;
    },
    get nextAt() {
      return touched.size > 0 ? 0 : earliest;
    },
    get newest() {
      return newest;
    },
    add(stream, session) {
      const entry: Running = {
        stream,
        session,
        charged: 0,
        link: HEALTHY_LINK,
        linkHealsAt: Number.POSITIVE_INFINITY,
        dueAt: 0,
      };
      newest = stream;
      running.set(stream.report.id, entry);
      touched.add(entry);
    },
    get: (id) => running.get(id),
    all: () => [...running.values()],
    history: () => history,
    touch(entry) {
      touched.add(entry);
    },
    attend(now, attend, bury) {
      if (now >= earliest) collectDue(now);
      if (touched.size === 0) return;
      const waiting = [...touched];
      touched.clear();
      for (const entry of waiting) {
        const { id } = entry.stream.report;
        if (running.get(id) !== entry) continue;
        attend(entry);
        if (entry.stream.report.phase !== 'closed') {
          plan(entry);
          continue;
        }
        running.delete(id);
        remember(entry.stream);
        bury(entry);
      }
    },
  };
}
