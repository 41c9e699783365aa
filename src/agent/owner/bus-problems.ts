/** What is told in the log of messages that did not get through, by the rule against floods. */
import type { LostMessage } from '../../ports/bus.ts';
import type { Log } from '../../ports/log.ts';
import { logRepeated, type RepeatFilter } from '../repeat-filter.ts';

interface Telling {
  readonly log: Log;
  readonly repeats: RepeatFilter;
}

/** A message to the owner was given up: told once a minute of each kind. */
export function reportLost(telling: Telling, { topic, why, reason }: LostMessage): void {
  // The names of commands come from outside.
  const kind = why === 'refused' ? topic.replace(/cmd\/[^/]+\/res$/, 'cmd') : '';
  logRepeated(telling, {
    level: 'warn',
    kind: `outbox:${why}:${kind}`,
    fields: { topic, why, reason },
    sentence: 'a message to the owner was given up',
  });
}

/** Whoever may publish a command can send it. */
export function reportOversized(telling: Telling, topic: string, bytes: number): void {
  logRepeated(telling, {
    level: 'warn',
    kind: 'oversized',
    fields: { topic: topic.slice(0, 200), bytes },
    sentence: 'a message too large to be read was ignored',
  });
}

export function reportUnexpected(telling: Telling, topic: string): void {
  const sentence = 'a message on an unexpected topic was ignored';
  logRepeated(telling, { level: 'debug', kind: 'topic', fields: { topic: topic.slice(0, 200) }, sentence });
}
