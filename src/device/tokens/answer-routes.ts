import type { LaneRunner } from '../lane/runner/lane-runner.ts';
import {
  type AnswerReader,
  type AnswerReaderParts,
  createAnswerReader,
  explainFault,
  fieldOf,
} from './answer-reader.ts';
import type { BackendWatcher } from './backend-watch.ts';
import type { EndedStreams } from './ended-streams.ts';
import type { RefusedAnswers } from './refused-answers.ts';
import type { TokenClient, TokenClientListener } from './token-client.ts';

/** A trial of the backend, which asks it for a token as a lane does. */
interface Trial {
  awaits(id: string): boolean;
  /** True if the answer belongs to the trial. */
  receive(body: unknown): boolean;
  /** @param why completes a sentence */
  refused(why: string): void;
}

/** The parts that ask the backend. */
export interface Askers {
  readonly tokens: TokenClient;
  readonly ended: EndedStreams;
  readonly backend: BackendWatcher;
  readonly diagnose: Trial;
}

/** Reads the backend's answers, and passes each to the part that asked. */
export function routeAnswers(
  parts: Pick<AnswerReaderParts, 'base' | 'signatures'> & { readonly refused: RefusedAnswers },
  askers: () => Askers,
): AnswerReader {
  return createAnswerReader({
    base: parts.base,
    signatures: parts.signatures,
    awaits(id) {
      const { tokens, ended, backend, diagnose } = askers();
      return [tokens, ended, backend, diagnose].some((asker) => asker.awaits(id));
    },
    deliver(body) {
      const { tokens, ended, backend, diagnose } = askers();
      if (ended.receive(body)) return true;
      // Answers to probes and trials belong to no lane.
      return backend.receive(body) || diagnose.receive(body) || tokens.receive(body);
    },
    refused(fault) {
      const { backend, diagnose } = askers();
      parts.refused.add(fault);
      if (fault !== 'unasked') backend.malformed(fieldOf(fault));
      if (fault !== 'unasked') diagnose.refused(explainFault(fault));
    },
  });
}

/** Passes the answers to the lane that asked, and to the backend watch. */
export function tellLanes(
  lane: (id: string) => LaneRunner | undefined,
  backend: () => Pick<BackendWatcher, 'answered' | 'malformed' | 'published'>,
): TokenClientListener {
  return {
    awaits: (id, request) => lane(id)?.awaitsAnswer(request) === true,
    granted: (id, grant) => lane(id)?.post({ type: 'granted', grant }),
    denied: (id, request, denial) => lane(id)?.post({ type: 'denied', id: request, denial }),
    unusable: (id, request, message) => lane(id)?.post({ type: 'unusable', id: request, message }),
    answered: () => backend().answered(),
    published: () => backend().published(true),
    malformed: (field) => backend().malformed(field),
  };
}

/** Whether any lane waits for the backend, and whether any lane is at rest. */
export function needsOf(lanes: readonly LaneRunner[]): { waiting: boolean; resting: boolean } {
  return {
    waiting: lanes.some(({ tokenRequest }) => tokenRequest !== null && tokenRequest.attempt > 0),
    resting: lanes.some(({ phase }) => phase === 'standby'),
  };
}
