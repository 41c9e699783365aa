import type { StreamMessage } from '../../ports/stream.ts';
import { noteLanguage } from '../losses/unspoken.ts';
import { notePartial, noteTranscript, noteTranslation } from '../replay/claims.ts';
import type { Span } from '../replay/piece.ts';
import type { ReplayLog } from '../replay/record.ts';
import { noteSound, noteText } from '../replay/spoken.ts';
import type { Cause } from '../retry/recovery.ts';
import { readNamedCause } from '../retry/recovery.ts';
import { closeDrained } from './lifecycle.ts';
import { goOnWithAccepted } from './session/accepted-task.ts';
import { type Failure, fail } from './session/ending.ts';
import { endOldSession, loseOldSession, noteNews } from './session/old-session.ts';
import { isSaid, onSaidSound, onSayError } from './session/saying.ts';
import type { Stream } from './session/session.ts';
import { onTaskRuns, pollSoon, refreshTask, unsettled } from './session/session-setup.ts';
import { noteSpokenVoice } from './session/spoken-voice.ts';
import { noteReadable } from './session/unreadable.ts';
import { noteAnswer } from './session/vain-wakes.ts';
import { dropOutputAudio, onOutputAudio } from './sound/playback.ts';
import type { StepContext } from './step-context.ts';
import { noteWarning } from './warning.ts';

type ErrorData = Extract<StreamMessage, { message_type: 'error' }>['data'];
type Transcript = Extract<StreamMessage, { data: { transcription: unknown } }>;

/** What the service says on a stream (docs/service.md 6, and what a live service adds). */
export function onMessage(context: StepContext, stream: Stream, message: StreamMessage): void {
  noteReadable(context, message);
  switch (message.message_type) {
    case 'current_task': {
      const { task_status: status, pipeline } = message.data;
      const told = pipeline?.translations.map((one) => one.target_language) ?? null;
      if (status === undefined || status === 'running') onTaskRuns(context, stream, told);
      return;
    }
    case 'task_status':
      if (message.data.task_status === 'running') pollSoon(context, stream);
      return;
    case 'output_audio':
      return onSound(context, stream, message);
    case 'partial_transcription':
    case 'validated_transcription':
    case 'partial_translated_transcription':
    case 'translated_transcription':
      return onTranscript(context, stream, message);
    case 'max_duration_reached':
    case 'session_revoked':
      return lose(context, stream, message.message_type);
    case 'eos':
    case 'end_of_stream':
      if (context.state.oldSession?.stream.id === stream.id) return endOldSession(context);
      return lose(context, stream, 'stream_ended');
    case 'error':
      return onError(context, stream, message.data);
    case 'warning':
      return noteWarning(context, 'warning', { code: message.data.code, text: message.data.message });
    case 'pipeline_timings':
    case 'tts_buffer_stats':
      context.count('ignored');
      return;
  }
}

/** A stream is over. One that was on its way out anyway is no failure. */
export function lose(context: StepContext, stream: Stream, cause: Cause, failure: Failure = {}): void {
  const { session, oldSession } = context.state;
  if (oldSession?.stream.id === stream.id) return loseOldSession(context);
  if (session.kind !== 'draining') return fail(context, cause, { ...failure, stream });
  // A revoked session may linger before it closes; whatever else it says, the drain's own limit counts.
  if (cause !== 'session_revoked' && cause !== 'max_duration_reached') closeDrained(context, session);
}

function onTranscript(context: StepContext, stream: Stream, { message_type: kind, data }: Transcript): void {
  const { transcription } = data;
  const id = transcription.transcription_id ?? null;
  const replay = noteFinalOrPartial(stream.replay, kind, transcription, context.now);
  context.patch(stream, { newsAt: context.now, replay });
  noteAnswer(context);
  noteNews(context, stream, false);
  context.emit({
    type: 'caption',
    caption: {
      kind,
      id,
      part: transcription.translation_part_id ?? null,
      language: transcription.language,
      text: transcription.text,
    },
  });
}

function noteFinalOrPartial(
  log: ReplayLog,
  kind: Transcript['message_type'],
  { transcription_id, translation_part_id, language, text, segments }: Transcript['data']['transcription'],
  now: number,
): ReplayLog {
  const final = { id: transcription_id ?? null, span: spanOf(segments ?? []) };
  const letters = [...text].length;
  switch (kind) {
    case 'partial_transcription':
      return notePartial(log, { id: final.id, letters }, now);
    case 'validated_transcription':
      return noteTranscript(log, final);
    case 'translated_transcription':
      return noteText(
        noteTranslation(log, final),
        { ...final, part: translation_part_id ?? null, language, letters },
        now,
      );
    case 'partial_translated_transcription':
      return log;
  }
}

type Segments = NonNullable<Transcript['data']['transcription']['segments']>;

/** From the begin of the first segment to the end of the last one; null where that is not told. */
function spanOf(segments: Segments): Span | null {
  const start = segments[0]?.start;
  const end = segments.at(-1)?.end;
  return start == null || end == null ? null : { fromMs: start * 1000, toMs: end * 1000 };
}

/** Translated sound has come: it is played, unless its sentence was played in this language before. */
function onSound(
  context: StepContext,
  stream: Stream,
  sound: Extract<StreamMessage, { message_type: 'output_audio' }>,
): void {
  if (isSaid(context, stream, sound)) return onSaidSound(context, stream, sound);
  const { sentence: id, part = null, language, last } = sound;
  const ms = sound.pcm.byteLength / context.state.settings.playoutBytesPerMs;
  const { log, isRepeat } = noteSound(stream.replay, { id, part, language, ms, last }, context.now);
  if (context.phase === 'draining') {
    context.patch(stream, { replay: log });
    return isRepeat ? undefined : dropOutputAudio(context, stream.id, sound);
  }
  context.patch(stream, { newsAt: context.now, replay: log });
  if (ms > 0) {
    noteSpokenVoice(context, stream.replay, log, id);
    noteLanguage(context, language, ms, id ?? '');
  }
  const ends = log.endsMarked - stream.replay.endsMarked;
  if (ends > 0) context.set({ endsMarked: context.state.endsMarked + ends });
  noteAnswer(context);
  noteNews(context, stream, true);
  if (!isRepeat) onOutputAudio(context, stream.id, sound);
}

function onError(context: StepContext, stream: Stream, data: ErrorData): void {
  // Nothing that it complains of matters any more.
  const { session, oldSession } = context.state;
  if (session.kind === 'draining' || oldSession?.stream.id === stream.id) return;
  const signs = { errorCode: data.error_code, texts: [data.reason, data.code, data.desc] };
  const named = readNamedCause(signs);
  if (named !== null) return lose(context, stream, named, refusalIn(data));
  onSayError(context, stream, data);
  switch (data.code) {
    case 'NOT_FOUND':
      // The pipeline has not started (docs/service.md 4.7 rule 2); the next question is already timed.
      return;
    case 'VALIDATION_ERROR':
      if (stream.liveAt === null || session.kind === 'retasking') {
        const message = (data.desc ?? 'the task is not valid').slice(0, 200);
        const unclear = unsettled(session);
        const told = unclear === null ? null : context.patch(unclear, { toldTask: null });
        if (told?.id === stream.id && goOnWithAccepted(context, told, message)) return refreshTask(context);
        return lose(context, stream, 'task_rejected', { message });
      }
      break;
  }
  noteWarning(context, 'error', { code: data.code, text: data.desc });
}

/** What a message that names a refusal says of it. */
function refusalIn({ code, desc, error_code: errorCode = null }: ErrorData): Failure {
  const said = [code, desc].filter((part) => part != null && part !== '').join(': ');
  return { ...(said !== '' && { message: `the service says ${said.slice(0, 200)}` }), errorCode };
}

const CLOSE_NORMAL = 1000;

/** The connection closed. */
export function onEnded(context: StepContext, stream: Stream, code: number, reason: string): void {
  const named = readNamedCause({ texts: [reason] });
  const message = `the service closed the stream (${code}${reason === '' ? '' : `, ${reason.slice(0, 120)}`})`;
  const { session, oldSession } = context.state;
  if (session.kind === 'draining') return closeDrained(context, session);
  if (code === CLOSE_NORMAL && oldSession?.stream.id === stream.id) return endOldSession(context);
  if (named !== null) return lose(context, stream, named, { message });
  // 1008: too many connections on one token; 1011-1013: the service is in trouble; 4000-4999: its own words.
  const serviceSide = code === 1008 || (code >= 1011 && code <= 1014) || code >= 4000;
  lose(context, stream, serviceSide ? 'service_error' : 'network', { message });
}
