/** Logs lost messages and the state of the connection, limited by the repeat filter. */

import { logRepeated, ORDINARY_A_MINUTE, type RepeatFilter } from '../../machine/repeat-filter.ts';
import type { BusProblem, LostMessage } from '../../ports/bus.ts';
import type { Log } from '../../ports/log.ts';

interface Telling {
  readonly log: Log;
  readonly repeats: RepeatFilter;
}

/** Logs a dropped message, once a minute for each kind. */
export function reportLost(telling: Telling, { topic, why, reason }: LostMessage): void {
  // Command names come from outside: each would count as a kind of its own.
  const kind = why === 'refused' ? topic.replace(/cmd\/[^/]+\/res$/, 'cmd') : '';
  logRepeated(telling, {
    level: 'warn',
    kind: `outbox:${why}:${kind}`,
    fields: { topic, why, reason },
    sentence: 'a message to the owner was dropped',
  });
}

/** Logs a new connection; these lines are frequent if the connection flaps. */
export function reportUp(telling: Telling, connection: number, protocol: number): void {
  logRepeated(telling, {
    level: 'info',
    kind: 'broker:up',
    fields: { connection, protocol },
    sentence: 'connected to the broker',
    atOnce: ORDINARY_A_MINUTE,
  });
}

/** Logs a connection that ended or failed. Each reason is limited separately, so that a new one appears at once. */
export function reportDown(telling: Telling, problem: BusProblem, message: string): void {
  // The level `error` means that manual action is needed.
  const level = problem === 'unreachable' ? 'warn' : 'error';
  logRepeated(telling, { level, kind: `broker:${message}`, fields: { problem }, sentence: message });
}

/** Logs an oversized message: any client that may publish commands can send one. */
export function reportOversized(telling: Telling, topic: string, bytes: number): void {
  logRepeated(telling, {
    level: 'warn',
    kind: 'oversized',
    fields: { topic: topic.slice(0, 200), bytes },
    sentence: 'a message was too large and was ignored',
  });
}

export function reportUnexpected(telling: Telling, topic: string): void {
  const sentence = 'a message on an unexpected topic was ignored';
  logRepeated(telling, { level: 'debug', kind: 'topic', fields: { topic: topic.slice(0, 200) }, sentence });
}
