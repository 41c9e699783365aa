import type { Ended, HeardSpan, Ready, Refused, ServiceEvent, Spoke, TaskState } from '../../ports/stream.ts';
import { readNamedRefusal } from './refusal.ts';
import type { ServerMessage } from './server-message.ts';

/** Every message of a service except its audio, which is decoded separately. */
type WrittenMessage = Exclude<ServerMessage, { message_type: 'output_audio_data' }>;
type DataOf<Type extends ServerMessage['message_type']> = Extract<
  ServerMessage,
  { message_type: Type }
>['data'];

/** Converts a message to an event (docs/service.md 6, and additions of a live service). Its texts are fit to show already. */
export function eventOf(message: WrittenMessage): ServiceEvent {
  switch (message.message_type) {
    case 'partial_transcription': {
      const { id, language, text } = transcriptOf(message.data);
      return { type: 'heard', id, language, text };
    }
    case 'validated_transcription': {
      const { id, language, text, span } = transcriptOf(message.data);
      return { type: 'understood', id, language, text, span };
    }
    case 'partial_translated_transcription':
      return { type: 'translated', ...transcriptOf(message.data), isFinal: false };
    case 'translated_transcription':
      return { type: 'translated', ...transcriptOf(message.data), isFinal: true };
    case 'current_task':
      return currentTask(message.data);
    case 'task_status':
      return ready(taskState(message.data.task_status ?? ''), { isAnswer: false });
    case 'error':
      return errorEvent(message.data);
    case 'warning':
      return {
        type: 'warned',
        level: 'warning',
        code: message.data.code ?? null,
        text: message.data.message ?? null,
      };
    case 'max_duration_reached':
      return { type: 'limit', reason: 'max_duration' };
    case 'session_revoked':
      return { type: 'limit', reason: 'revoked' };
    case 'eos':
    case 'end_of_stream':
      return { type: 'ended', how: 'complete', reason: null, detail: '' };
    case 'pipeline_timings':
    case 'tts_buffer_stats':
      // Statistics only prove that the service is alive.
      return ready('unclear', { isAnswer: false });
  }
}

function transcriptOf({ transcription }: DataOf<'translated_transcription'>) {
  return {
    id: transcription.transcription_id ?? null,
    part: transcription.translation_part_id ?? null,
    language: transcription.language,
    text: transcription.text,
    span: spanOf(transcription.segments ?? []),
  };
}

type Segments = NonNullable<DataOf<'translated_transcription'>['transcription']['segments']>;

/** From the start of the first segment to the end of the last one; null if either is missing. */
function spanOf(segments: Segments): HeardSpan | null {
  const start = segments[0]?.start;
  const end = segments.at(-1)?.end;
  return start == null || end == null ? null : { fromMs: start * 1000, toMs: end * 1000 };
}

function ready(task: TaskState, given: Partial<Ready>): Ready {
  return { type: 'ready', task, targets: null, isAnswer: true, detail: null, ...given };
}

function currentTask({ task_status: status, pipeline }: DataOf<'current_task'>): Ready {
  const targets = pipeline?.translations.map((one) => one.target_language) ?? null;
  // The specification shows no status: an existing task is a running task.
  return ready(taskState(status ?? 'running'), { targets });
}

function taskState(status: string): TaskState {
  return status === 'running' || status === 'paused' ? status : 'unclear';
}

/** No pipeline runs: it has not started, or it is gone (docs/service.md 4.7 rule 2). */
const NO_TASK = 'NOT_FOUND';
/** The service received something that is not valid. */
const NOT_VALID = 'VALIDATION_ERROR';

function errorEvent(data: DataOf<'error'>): ServiceEvent {
  const { code = null, desc: text = null, param, reason, error_code: errorCode = null } = data;
  const said = [code, text].filter((part) => part !== null && part !== '').join(': ');
  const refusal = readNamedRefusal({ errorCode, texts: [reason, code, text] });
  if (refusal !== null) return refused(refusal, errorCode, said);
  if (code === NO_TASK) return ready('none', { detail: said });
  const level = code === NOT_VALID ? 'rejection' : 'error';
  return { type: 'warned', level, code, text, ...(param === 'message_type' && { isUnknownKind: true }) };
}

function refused(reason: Refused['reason'], errorCode: number | null, said: string): Refused {
  return {
    type: 'refused',
    reason,
    status: null,
    errorCode,
    detail: said === '' ? null : said,
    retryAfterMs: null,
  };
}

/** @param pcm whole samples */
export function spokeOf(data: DataOf<'output_audio_data'>, pcm: Uint8Array): Spoke {
  const { transcription_id: id, translation_part_id: part, language, last_chunk } = data;
  return {
    type: 'spoke',
    pcm,
    sentence: id ?? null,
    part: part ?? null,
    language: language ?? null,
    utterance: id == null ? null : utteranceOf(data),
    last: last_chunk === true,
  };
}

/** Key of an utterance: the sound of one sentence, part and language. */
export function utteranceOf(data: DataOf<'output_audio_data'>): string {
  const { transcription_id: id, translation_part_id: part, language } = data;
  return `${id ?? ''}/${part ?? ''}/${language ?? ''}`;
}

const CLOSE_NORMAL = 1000;

/** How a connection has closed. @param said the reason that the service gives, fit to show */
export function endedOf(code: number, said: string): Ended {
  // 1008: too many connections on one token; 1011-1014: the service is in trouble; 4000-4999: its own codes.
  const isTheirs = code === 1008 || (code >= 1011 && code <= 1014) || code >= 4000;
  return {
    type: 'ended',
    how: code === CLOSE_NORMAL ? 'closed' : 'cut',
    reason: readNamedRefusal({ texts: [said] }) ?? (isTheirs ? 'service_error' : null),
    detail: said === '' ? `${code}` : `${code}, ${said}`,
  };
}
