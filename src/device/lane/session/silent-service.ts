import type { ServiceEvent } from '../../../ports/stream.ts';
import { noteReaction } from '../replay/missing.ts';
import { owesSpeech } from '../replay/owed.ts';
import { isStreaming, type LiveStream, type Stream } from '../state/session-state.ts';
import {
  isDoubtful,
  isText,
  NO_SILENT_ENDS,
  noteMessage,
  noteSilentEnd,
  SILENCE_SLACK_MS,
  type Silence,
  silenceDueAt,
} from '../state/silence-watch.ts';
import type { StepContext } from '../state/step-context.ts';
import { fail } from './failure.ts';

/**
 * A service can answer pings, take every byte, and send no result. If speech gets no message, or a transcript gets no sound,
 * the lane polls the task. The session ends if the service does not answer, or answers that the task is gone or paused. After any
 * other answer the service has more time to send a result. Noise that the voice detector takes for speech looks the same: after
 * two silent sessions in a row, a session whose task runs is no longer ended.
 */

/** Number of speech chunks without a result (3.2 s) after which a session is ended although it answers polls: fewer may be a cough. */
const LEAST_SPEECH_CHUNKS = 10;

/** The service has sent a message. Returns the changed stream. */
export function hearService(context: StepContext, stream: Stream, said: ServiceEvent): Stream {
  const understands = isText(said) || said.type === 'spoke';
  if (understands && context.state.silentEnds.count > 0) context.set({ silentEnds: NO_SILENT_ENDS });
  const silence = noteMessage(stream.silence, said, stream.replay.partial !== null, context.now);
  const { chunkMs } = context.state.settings;
  const replay = understands ? noteReaction(stream.replay, chunkMs) : stream.replay;
  if (silence === stream.silence && replay === stream.replay) return stream;
  return context.patch(stream, { silence, replay });
}

/**
 * Ends the session if the service answers the poll after silence with no task or a paused task.
 * @returns whether the session was ended
 */
export function endWithoutTask(context: StepContext, stream: Stream, said: ServiceEvent): boolean {
  const { session } = context.state;
  if (!isStreaming(session) || session.stream.id !== stream.id || stream.silence.askedAt === null)
    return false;
  const why = whyNoTask(said);
  if (why === null) return false;
  fail(context, 'silent_service', {
    stream,
    message: `the service received speech, but reports that the task ${why}`,
  });
  return true;
}

function whyNoTask(said: ServiceEvent): string | null {
  if (said.type !== 'ready' || !said.isAnswer) return null;
  if (said.task === 'none') return 'is gone';
  return said.task === 'paused' ? 'is paused' : null;
}

export function onSilenceTimer(context: StepContext): void {
  const { session, settings, silentEnds } = context.state;
  if (!isStreaming(session)) return;
  const { stream } = session;
  const { silence } = stream;
  const dueAt = silenceDueAt(silence, settings, isDoubtful(silentEnds, context.now));
  if (dueAt === null) return;
  if (context.now < dueAt) return context.arm('silence', dueAt, SILENCE_SLACK_MS);
  const isAllSpoken = silence.askedAt === null && silence.speechChunks === 0 && !owesSpeech(stream.replay);
  if (isAllSpoken) {
    context.patch(stream, { silence: { ...silence, since: null } });
    return;
  }
  // On a congested connection neither poll nor answer arrives; if that lasts, the ping timer ends the stream.
  if (stream.congestedSince !== null) {
    return context.arm('silence', context.now + settings.silentAnswerMs, SILENCE_SLACK_MS);
  }
  if (silence.askedAt !== null || isUseless(context, silence)) return endSilent(context, stream);
  const allowedAt = (stream.lastPollAt ?? Number.NEGATIVE_INFINITY) + settings.pollMs;
  if (context.now < allowedAt) return context.arm('silence', allowedAt);
  ask(context, stream);
  context.arm('silence', context.now + settings.silentAnswerMs);
}

/**
 * Polls the task before standby, if the service has sent no result for the speech.
 * @returns whether the answer is still pending
 */
export function askAboutSilence(context: StepContext, stream: LiveStream): boolean {
  const { silence, lastPollAt } = stream;
  if (silence.askedAt !== null) return true;
  if (silence.since === null || silence.onlyAnswers) return false;
  const { pollMs, silentAnswerMs } = context.state.settings;
  if (context.now < (lastPollAt ?? Number.NEGATIVE_INFINITY) + pollMs) return true;
  ask(context, stream);
  context.arm('silence', context.now + silentAnswerMs);
  return true;
}

function ask(context: StepContext, stream: Stream): void {
  const silence = { ...stream.silence, askedAt: context.now };
  context.patch(stream, { lastPollAt: context.now, silence });
  context.emit({ type: 'poll_task', stream: stream.id });
}

/** Whether the service has confirmed its task and then received a whole sentence without sending a result. */
function isUseless({ state, now }: StepContext, { onlyAnswers, speechChunks }: Silence): boolean {
  return onlyAnswers && speechChunks >= LEAST_SPEECH_CHUNKS && !isDoubtful(state.silentEnds, now);
}

function endSilent(context: StepContext, stream: Stream): void {
  fail(context, 'silent_service', { stream });
  context.set({ silentEnds: noteSilentEnd(context.state.silentEnds, context.now) });
}
