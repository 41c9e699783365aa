/** The answers to commands on their way to the broker, and the commands that are acknowledged after them. */

import type { QueueShare } from '../../ports/bus.ts';
import type { FinalAnswer } from './command-ledger.ts';

/** The receiver of a command's answers. */
export interface Asker {
  readonly id: string;
  readonly name: string;
  readonly correlationData: Uint8Array | undefined;
  /** The broker sent the command again because it missed the acknowledgement. */
  readonly isResent: boolean;
}

/** Final answers to one command that the broker has not acknowledged. */
interface Pending {
  /** As JSON. */
  readonly answers: readonly string[];
  /** Arrivals of the command, to be acknowledged afterwards. */
  readonly arrivals: readonly number[];
}

export interface Answers {
  readonly pending: ReadonlyMap<string, Pending>;
  /** Until then an operator may be waiting for a pending answer; null: no longer. */
  readonly awaitedUntil: number | null;
}

export const NO_ANSWERS: Answers = { pending: new Map(), awaitedUntil: null };

export type AnswerEffect =
  | {
      readonly type: 'publish';
      readonly asker: Asker;
      readonly answer: FinalAnswer | { readonly status: 'accepted' };
      readonly share: QueueShare;
    }
  /** The broker does not send these arrivals again. */
  | { readonly type: 'acknowledge'; readonly arrivals: readonly number[] }
  /** `isAwaited` may have changed. */
  | { readonly type: 'awaited_changed' };

type Answered = { readonly answers: Answers; readonly effects: readonly AnswerEffect[] };

/** Longest time that an operator waits (ms). An older answer is not a reason to reconnect sooner. */
const WAITED_FOR_MS = 120_000;

/** A final answer to give. */
export interface Giving {
  readonly asker: Asker;
  readonly answer: FinalAnswer;
  /** Arrivals of the command that are not acknowledged yet. They are acknowledged when the broker has the answer, if not before. */
  readonly arrivals: readonly number[];
  readonly share: QueueShare;
}

/**
 * Publishes a final answer. A command that is sent again gets no second answer while the first is pending.
 * @param now null: the agent stops, and connects no sooner for this answer
 */
export function giveAnswer(
  { pending, awaitedUntil }: Answers,
  { asker, answer, arrivals, share }: Giving,
  now: number | null,
): Answered {
  const text = JSON.stringify(answer);
  const before = pending.get(asker.id) ?? { answers: [], arrivals: [] };
  const isRepeated = asker.isResent && before.answers.includes(text);
  const next: Pending = {
    answers: isRepeated ? before.answers : [...before.answers, text],
    arrivals: [...before.arrivals, ...arrivals],
  };
  const given = new Map(pending).set(asker.id, next);
  if (isRepeated) return { answers: { pending: given, awaitedUntil }, effects: [] };
  const publish: AnswerEffect = { type: 'publish', asker, answer, share };
  if (now === null) return { answers: { pending: given, awaitedUntil }, effects: [publish] };
  return {
    answers: { pending: given, awaitedUntil: now + WAITED_FOR_MS },
    effects: [publish, { type: 'awaited_changed' }],
  };
}

/** The command was sent again while its answer is pending: the answer will acknowledge this arrival, too. Null: no answer is pending. */
export function joinAnswer(answers: Answers, id: string, arrival: number): Answers | null {
  const before = answers.pending.get(id);
  if (before === undefined) return null;
  const next: Pending = { ...before, arrivals: [...before.arrivals, arrival] };
  return { ...answers, pending: new Map(answers.pending).set(id, next) };
}

/** The broker has the answer to a command, or the answer was dropped. */
export function endAnswer(answers: Answers, id: string): Answered {
  const pending = new Map(answers.pending);
  const arrivals = pending.get(id)?.arrivals ?? [];
  pending.delete(id);
  return {
    answers: { ...answers, pending },
    effects: [...acknowledge(arrivals), { type: 'awaited_changed' }],
  };
}

export function acknowledge(arrivals: readonly number[]): readonly AnswerEffect[] {
  return arrivals.length === 0 ? [] : [{ type: 'acknowledge', arrivals }];
}

/** Whether an operator may still be waiting for an answer that has not reached the broker. */
export function isAwaited({ pending, awaitedUntil }: Answers, now: number): boolean {
  return pending.size > 0 && awaitedUntil !== null && now < awaitedUntil;
}

/** When `isAwaited` changes by itself; null: never. */
export function awaitedUntil({ pending, awaitedUntil: until }: Answers): number | null {
  return pending.size > 0 ? until : null;
}

/** Ends the wait for the pending answers when it has been long enough. */
export function endWait(answers: Answers, now: number): Answered {
  const until = awaitedUntil(answers);
  if (until === null || now < until) return { answers, effects: [] };
  return { answers: { ...answers, awaitedUntil: null }, effects: [{ type: 'awaited_changed' }] };
}
