import { HEALTHY_LINK, type Link } from './effect.ts';
import type { FaultTarget } from './fault-plan.ts';
import type { SessionRecord } from './sessions.ts';
import type { Stream } from './stream.ts';

/** A running stream and what belongs to it. */
export interface Running {
  readonly stream: Stream;
  readonly session: SessionRecord;
  /** Billed time that has been taken off the account. */
  charged: number;
  link: Link;
  linkHealsAt: number;
  /** When it must be attended to next, unless something happens before. */
  dueAt: number;
}

/** Closed streams whose reports are kept, and those of them whose recordings are. */
const MOST_HISTORY = 500;
const MOST_RECORDINGS = 20;

/** When a stream's session does not let it run any longer. One that is ending already, however slowly, has no limit. */
export function limitAt({ stream, session }: Running): number {
  const { phase } = stream.report;
  if (session.maxDurationMs === null || phase === 'closing' || phase === 'closed')
    return Number.POSITIVE_INFINITY;
  return stream.openedAt + session.maxDurationMs;
}

/** A stream as far as faults look at it. */
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

/** A connection that a fault holds up, and when that ends; null: not by itself. */
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

/** The running streams, those of them that need attention, and the last closed ones. */
export interface StreamRegistry {
  readonly size: number;
  /** Not later than the moment at which the first stream is due. */
  readonly nextAt: number;
  /** Opened last, running or not. */
  readonly newest: Stream | undefined;
  add(stream: Stream, session: SessionRecord): void;
  get(id: string): Running | undefined;
  all(): Running[];
  /** Closed streams, oldest first. */
  history(): readonly Stream[];
  /** Something happened to a stream: it is attended to at the next turn. */
  touch(running: Running): void;
  /** Attends to each stream that was touched or is due; closed ones go to the history, told to `bury`. */
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
