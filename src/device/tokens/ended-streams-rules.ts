import {
  type EndedStream,
  type EndsRecorded,
  endedStreamSchema,
  MOST_ENDED,
} from '../../protocol/mqtt/token.ts';

/**
 * Ended streams that the backend has not confirmed. An event can be lost although the broker has acknowledged it: the
 * broker's queue was full, it lost power, or the backend was away. Therefore token requests report the ends again.
 */
export interface EndedStreams {
  /** Oldest first. */
  readonly kept: readonly { readonly stream: EndedStream; readonly until: number }[];
  /** Ids of the latest requests that have reported ends. */
  readonly reportedBy: readonly string[];
}

export const NO_ENDED_STREAMS: EndedStreams = { kept: [], reportedBy: [] };

/** Maximum number of ended streams that are kept, the newest ones: more than an hour's sessions. */
const MOST_KEPT = 64;
/** How long an ended stream is kept (ms): over a weekend. The ledger accepts it until three days after its session was issued. */
const KEPT_MS = 66 * 3_600_000;
/** Number of requests whose second answer is recognised. */
const REMEMBERED_REQUESTS = 16;

/** A stream has ended. @param detail as in the event `session_ended` */
export function keepEnded(ended: EndedStreams, lane: string, detail: object, now: number): EndedStreams {
  // The backend would deny a request with an invalid stream.
  const { data: stream } = endedStreamSchema.safeParse({ lane, ...detail });
  if (stream === undefined) return ended;
  return { ...ended, kept: [...ended.kept, { stream, until: now + KEPT_MS }].slice(-MOST_KEPT) };
}

/** The ended streams for a token request with this id. */
export function reportEnded(
  ended: EndedStreams,
  id: string,
  now: number,
): { readonly after: EndedStreams; readonly streams: readonly EndedStream[] } {
  const kept = ended.kept.filter(({ until }) => now < until);
  if (kept.length === 0) return { after: { ...ended, kept }, streams: [] };
  const others = ended.reportedBy.filter((other) => other !== id);
  const reportedBy = [...others, id].slice(-REMEMBERED_REQUESTS);
  return { after: { kept, reportedBy }, streams: kept.slice(0, MOST_ENDED).map(({ stream }) => stream) };
}

/** The backend has recorded some of the ended streams. */
export function confirmEnded(ended: EndedStreams, { id, recorded }: EndsRecorded): EndedStreams {
  if (!ended.reportedBy.includes(id)) return ended;
  return {
    kept: ended.kept.filter(({ stream }) => !recorded.includes(stream.session)),
    reportedBy: ended.reportedBy.filter((other) => other !== id),
  };
}
