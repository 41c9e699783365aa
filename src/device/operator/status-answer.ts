import type { Clock } from '../../ports/clock.ts';
import { accountOf, reportAccount } from '../lane/runner/lane-account.ts';
import type { LaneRunner } from '../lane/runner/lane-runner.ts';
import type { Publisher } from '../status/publisher.ts';
import type { RunningTokens } from '../tokens/tokens.ts';

export interface StatusAnswerDeps {
  readonly clock: Clock;
  readonly version: string;
  readonly bootId: string;
  readonly lanes: readonly LaneRunner[];
  readonly publisher: Publisher;
  readonly tokens: Pick<RunningTokens, 'counts'>;
}

/** Creates the handler of the command `status`, which also publishes status and state again. */
export function createStatusAnswer(deps: StatusAnswerDeps): () => unknown {
  const { clock, version, bootId, lanes, publisher, tokens } = deps;
  const startedAt = clock.now();
  return () => {
    publisher.publishAgain();
    return {
      ...publisher.status(),
      version,
      boot_id: bootId,
      uptime_s: Math.round((clock.now() - startedAt) / 1000),
      refused_answers: tokens.counts.refusedAnswers,
      lanes: publisher.laneReports(),
      audio: lanes.map((lane) => reportAccount(lane.id, accountOf(lane, clock.now()))),
    };
  };
}
