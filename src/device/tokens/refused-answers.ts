import { logRepeated, type RepeatFilter } from '../../machine/repeat-filter.ts';
import type { Log } from '../../ports/log.ts';
import { type AnswerFault, explainFault } from './answer-reader.ts';

/** Counts refused answers to token requests, and logs them once a minute at most. */
export interface RefusedAnswers {
  /** Number of refused answers since the start, by reason. */
  readonly counts: Readonly<Partial<Record<AnswerFault, number>>>;
  add(fault: AnswerFault): void;
}

export function createRefusedAnswers(deps: { log: Log; repeats: RepeatFilter }): RefusedAnswers {
  const counts: Partial<Record<AnswerFault, number>> = {};
  return {
    counts,
    add(fault) {
      counts[fault] = (counts[fault] ?? 0) + 1;
      const sentence = `an answer to a token request was refused: ${explainFault(fault)}`;
      // Late and duplicate answers are normal.
      const level = fault === 'unasked' ? 'debug' : 'warn';
      logRepeated(deps, { level, kind: `token_answer:${fault}`, fields: {}, sentence });
    },
  };
}
