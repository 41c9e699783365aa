/** What is told in the log of messages that did not get through, by the rule against floods. */
import type { BusProblem, LostMessage } from '../../ports/bus.ts';
import type { Log } from '../../ports/log.ts';
import { logRepeated, ORDINARY_A_MINUTE, type RepeatFilter } from '../repeat-filter.ts';

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

/** The connection is up: often, where something ends it again and again. */
export function reportUp(telling: Telling, connection: number, protocol: number): void {
  logRepeated(telling, {
    level: 'info',
    kind: 'broker:up',
    fields: { connection, protocol },
    sentence: 'connected to the broker',
    atOnce: ORDINARY_A_MINUTE,
  });
}

/** The connection has ended, or did not come about: each reason counts by itself, so that a new one is seen at once. */
export function reportDown(telling: Telling, problem: BusProblem, message: string): void {
  // What only a person can change is an error.
  const level = problem === 'unreachable' ? 'warn' : 'error';
  logRepeated(telling, { level, kind: `broker:${message}`, fields: { problem }, sentence: message });
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
