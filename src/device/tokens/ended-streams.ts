import type { Clock } from '../../ports/clock.ts';
import {
  type EndedStream,
  endedStreamSchema,
  endsRecordedSchema,
  MOST_ENDED,
  type TokenRequest,
} from '../../protocol/mqtt/token.ts';
import type { LaneStep } from '../lane/runner/lane-runner.ts';

/** Maximum number of ended streams that are kept, the newest ones: more than an hour's sessions. */
const MOST_KEPT = 64;
/** How long an ended stream is kept (ms): over a weekend. The ledger accepts it until three days after its session was issued. */
const KEPT_MS = 66 * 3_600_000;
/** Number of requests whose second answer is recognised. */
const REMEMBERED_REQUESTS = 16;

/**
 * Ended streams that the backend has not confirmed. An event can be lost although the broker has acknowledged it: the
 * broker's queue was full, it lost power, or the backend was away. Therefore token requests report the ends again.
 */
export interface EndedStreams {
  onStep(step: LaneStep): void;
  /** The part of a token request that reports ended streams; empty if there are none. */
  reportIn(id: string): Pick<TokenRequest, 'ended'>;
  /** Whether a request with this id has reported ends. */
  awaits(id: string): boolean;
  /** Handles a message on `{p}/token/res`; true if it confirms ends and does nothing else. */
  receive(body: unknown): boolean;
}

export function createEndedStreams(clock: Pick<Clock, 'now'>): EndedStreams {
  let kept: readonly { readonly stream: EndedStream; readonly until: number }[] = [];
  let reported: readonly string[] = [];

  return {
    onStep({ lane, effects }) {
      for (const effect of effects) {
        if (effect.type !== 'notify' || effect.kind !== 'session_ended') continue;
        // The backend would deny a request with an invalid stream.
        const { data: stream } = endedStreamSchema.safeParse({ lane, ...effect.detail });
        if (stream === undefined) continue;
        kept = [...kept, { stream, until: clock.now() + KEPT_MS }].slice(-MOST_KEPT);
      }
    },
    reportIn(id) {
      kept = kept.filter(({ until }) => clock.now() < until);
      if (kept.length === 0) return {};
      reported = [...reported.filter((other) => other !== id), id].slice(-REMEMBERED_REQUESTS);
      return { ended: kept.slice(0, MOST_ENDED).map(({ stream }) => stream) };
    },
    awaits: (id) => reported.includes(id),
    receive(body) {
      const { data } = endsRecordedSchema.safeParse(body);
      if (data === undefined) return false;
      if (reported.includes(data.id)) {
        reported = reported.filter((id) => id !== data.id);
        kept = kept.filter(({ stream }) => !data.recorded.includes(stream.session));
      }
      return data['ok'] === undefined;
    },
  };
}
