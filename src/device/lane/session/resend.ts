import { loseSent } from '../losses/speech-lost.ts';
import { addUnspoken, silentLanguages } from '../losses/unspoken.ts';
import { type StreamEnd, settleEnd } from '../replay/missing.ts';
import { owedChunks } from '../replay/owed.ts';
import { repeatCutSentences } from '../replay/repeat.ts';
import { pump } from '../sound/sending.ts';
import { noteSign, type Stream, streamsOf } from '../state/session-state.ts';
import type { StepContext } from '../state/step-context.ts';
import { spokenLanguages } from '../two-way/two-way.ts';
import { type BacklogChunk, isInPause, takeBack } from '../uplink/backlog.ts';

/** Speech that a stream took is replayed, or counted as lost. */

/** A stream broke off: its unanswered speech returns to the backlog for the next stream. */
export function takeBackFrom(context: StepContext, stream: Stream): void {
  countEnd(context, stream, 'replayed');
  requeue(context, owedChunks(stream.replay));
}

/** A stream broke off while another one receives newer speech: the unanswered speech is replayed to the other one. */
export function takeBackLate(context: StepContext, stream: Stream): void {
  countEnd(context, stream, 'replayed');
  sendLate(context, owedChunks(stream.replay));
}

/** A stream has ended, and nothing is replayed. */
export function giveUpRest(context: StepContext, stream: Stream, how: 'clean' | 'stopped'): void {
  countEnd(context, stream, how);
}

/**
 * Counts the speech that a stream left unspoken, at every end of a stream. Unanswered speech is attributed to a silent service:
 * a dead connection is noticed before the log forgets speech.
 */
export function countEnd(context: StepContext, { replay }: Stream, end: StreamEnd): void {
  const { unspoken, unanswered, stopped } = settleEnd(replay, end);
  addUnspoken(context, unspoken);
  loseSent(context, unanswered, 'silent_service');
  loseSent(context, stopped, 'stopped');
}

/** Replays chunks to the live stream, which is receiving newer speech. */
function sendLate(context: StepContext, chunks: readonly BacklogChunk[]): void {
  const { quietRun } = context.state.backlog;
  requeue(
    context,
    chunks.map((chunk) => ({ ...chunk, late: true })),
  );
  context.set({ backlog: { ...context.state.backlog, quietRun } });
}

/**
 * Returns chunks to the backlog that are not yet spoken in all current target languages. A language that the service has not
 * spoken for long does not count: visitors would wait for its replays, and hear nothing.
 */
export function requeue(context: StepContext, chunks: readonly BacklogChunk[]): void {
  const { backlog, settings } = context.state;
  const silent = silentLanguages(context.state);
  const { targets: wanted, either } = spokenLanguages(context.state);
  const isOwed = ({ said = [] }: BacklogChunk): boolean =>
    !(either && said.length > 0) &&
    wanted.some((target) => !said.includes(target) && !(said.length > 0 && silent.includes(target)));
  for (const language of silent) countGivenUp(context, chunks, language);
  const owed = chunks.flatMap((chunk, index) => {
    const before = chunks[index - 1];
    const isApart = chunk.apart === true || (before !== undefined && !isOwed(before));
    return isOwed(chunk) ? [isApart ? { ...chunk, apart: true } : chunk] : [];
  });
  if (owed.length === 0) return;
  context.count('takenBack', owed.length);
  context.set({ backlog: takeBack(backlog, owed, Math.floor(settings.backlogMs / settings.chunkMs)) });
}

/** Counts speech that was translated into the other languages, and is not sent again for this language. */
function countGivenUp(context: StepContext, chunks: readonly BacklogChunk[], language: string): void {
  const isMissing = ({ said = [], voiced, pcm }: BacklogChunk): boolean =>
    voiced && pcm !== null && said.length > 0 && !said.includes(language);
  const { chunkMs } = context.state.settings;
  let first = 0;
  for (const [index, { seq }] of chunks.filter(isMissing).entries()) {
    if (index === 0 || chunks.every((chunk) => chunk.seq !== seq - 1)) first = seq;
    addUnspoken(context, [{ language, ms: chunkMs, sentence: `from chunk ${first}` }]);
  }
}

/**
 * Replays sentences that the service has cut off. Called at a sign of life, which shows that the missing messages are not
 * just delayed, unless the connection was blocked until a moment ago.
 */
export function repeatCut(context: StepContext, { id }: Stream): void {
  const stream = streamsOf(context.state).find((one) => one.id === id);
  if (stream === undefined || stream.liveAt === null) return;
  const signs = noteSign(stream.signs, context.now);
  const signed = context.patch(stream, { signs });
  // A stopped lane repeats nothing: the next listener may be someone else. A repeat must not cut into a sentence.
  if (
    context.phase === 'draining' ||
    signed.replay.sentences.length === 0 ||
    !isInPause(context.state.backlog)
  )
    return;
  const { log, again } = repeatCutSentences(signed.replay, signs.settledAt);
  if (log === signed.replay) return;
  context.patch(signed, { replay: log });
  if (again.length === 0) return;
  context.count('saidAgain');
  sendLate(context, again);
  pump(context);
}
