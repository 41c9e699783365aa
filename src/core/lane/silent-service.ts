import type { StreamMessage } from '../../ports/stream.ts';
import { fail } from './ending.ts';
import { isStreaming } from './sending.ts';
import {
  isDoubtful,
  NO_SILENT_ENDS,
  noteMessage,
  noteSilentEnd,
  SILENCE_SLACK_MS,
  type Silence,
  silenceDueAt,
} from './silence.ts';
import type { Stream } from './state.ts';
import type { Turn } from './turn.ts';

/**
 * A service can answer pings, take every byte, and say nothing. Where speech gets no message of any kind the lane asks
 * for the task: no answer ends the session, and an answer buys it more time. Noise that the voice detector takes for
 * speech gets no other answer either: after two such ends in a row only a session that answers nothing at all is ended.
 */

/** A session that still answers is not ended for a cough: about three seconds of speech. */
const LEAST_SPEECH_CHUNKS = 10;

/** The service has said something. Returns the stream as it is then. */
export function hearService(turn: Turn, stream: Stream, message: StreamMessage): Stream {
  if (isUnderstanding(message) && turn.state.silentEnds.count > 0) turn.set({ silentEnds: NO_SILENT_ENDS });
  const silence = noteMessage(stream.silence, message);
  if (silence === stream.silence) return stream;
  const heard = { ...stream, silence };
  turn.put(heard);
  return heard;
}

/** Whether a message shows that what is said is understood. */
function isUnderstanding({ message_type: type }: StreamMessage): boolean {
  return (
    type === 'output_audio' ||
    type === 'partial_transcription' ||
    type === 'validated_transcription' ||
    type === 'partial_translated_transcription' ||
    type === 'translated_transcription'
  );
}

export function onSilenceTimer(turn: Turn): void {
  const { stream, settings, silentEnds } = turn.state;
  if (stream === null || !isStreaming(turn)) return;
  const { silence } = stream;
  const dueAt = silenceDueAt(silence, settings, isDoubtful(silentEnds, turn.now));
  if (dueAt === null) return;
  if (turn.now < dueAt) return turn.arm('silence', dueAt, SILENCE_SLACK_MS);
  // Neither a question nor its answer can be expected to come through; a way that stays so is found by itself.
  if (stream.congestedSince !== null) {
    return turn.arm('silence', turn.now + settings.silentAnswerMs, SILENCE_SLACK_MS);
  }
  if (silence.askedAt !== null || isUseless(turn, silence)) return endSilent(turn, stream);
  const allowedAt = (stream.lastPollAt ?? Number.NEGATIVE_INFINITY) + settings.pollMs;
  if (turn.now < allowedAt) return turn.arm('silence', allowedAt);
  turn.put({ ...stream, lastPollAt: turn.now, silence: { ...silence, askedAt: turn.now } });
  turn.emit({ type: 'poll_task', stream: stream.id });
  turn.arm('silence', turn.now + settings.silentAnswerMs);
}

/** It has its task, was sent a whole sentence since it said so, and has not said a word of it. */
function isUseless({ state, now }: Turn, { onlyAnswers, speechChunks }: Silence): boolean {
  return onlyAnswers && speechChunks >= LEAST_SPEECH_CHUNKS && !isDoubtful(state.silentEnds, now);
}

function endSilent(turn: Turn, stream: Stream): void {
  turn.set({ silentEnds: noteSilentEnd(turn.state.silentEnds, turn.now) });
  fail(turn, 'silent_service', { stream });
}
