import { z } from 'zod';
import { isObject, parseJson } from '../json.ts';

/** The four transcripts: source or target language, interim or final. All have one shape. */
export const TRANSCRIPT_TYPES = [
  'partial_transcription',
  'validated_transcription',
  'partial_translated_transcription',
  'translated_transcription',
] as const;
export type TranscriptType = (typeof TRANSCRIPT_TYPES)[number];

/** A part id is a number in texts and a string in audio: readers compare it as a string. */
const partIdSchema = z.union([z.string(), z.number()]).transform(String).nullish();

/** A stretch of a transcript, in seconds of the stream's own audio, as a live service tells it. */
const segmentSchema = z.looseObject({ start: z.number().nullish(), end: z.number().nullish() });

/** Data of the four transcripts. Only `text` and `language` are specified (6); a partial carries the whole text so far. */
export const transcriptDataSchema = z.looseObject({
  transcription: z.looseObject({
    transcription_id: z.string().nullish(),
    translation_part_id: partIdSchema,
    language: z.string(),
    text: z.string(),
    segments: z.array(segmentSchema).nullish().catch(null),
  }),
});

/** Data of `output_audio_data`. Only `data` is specified (6): base64 audio in the declared output format; may be empty. */
export const outputAudioDataSchema = z.looseObject({
  data: z.string(),
  transcription_id: z.string().nullish(),
  translation_part_id: partIdSchema,
  language: z.string().nullish(),
  last_chunk: z.boolean().nullish(),
  chunk_generation_delta: z.number().nullish(),
});

/** Data of `current_task`: the task as set, in a shape that is not specified, plus `task_status` on a live service. */
export const currentTaskDataSchema = z.looseObject({ task_status: z.string().optional() });

/** Data of `task_status`, a live service's acknowledgement of a command. */
export const taskStatusDataSchema = z.looseObject({
  command: z.string().nullish(),
  event: z.string().nullish(),
  task_status: z.string().nullish(),
});

/** Data of `error`: `NOT_FOUND` until a pipeline runs (4.7 rule 2); `error_code`/`reason` name a refusal (7). */
export const streamErrorDataSchema = z.looseObject({
  code: z.string().nullish(),
  desc: z.string().nullish(),
  param: z.unknown().optional(),
  reason: z.string().nullish(),
  error_code: z.number().nullish(),
});

/** Data of `warning`: the stream goes on. */
export const streamWarningDataSchema = z.looseObject({
  code: z.string().nullish(),
  message: z.string().nullish(),
});

const anything = z.unknown();

/** Data schema by `message_type`. A type that is not here is unknown and ignored. */
export const SERVER_MESSAGE_DATA = {
  partial_transcription: transcriptDataSchema,
  validated_transcription: transcriptDataSchema,
  partial_translated_transcription: transcriptDataSchema,
  translated_transcription: transcriptDataSchema,
  output_audio_data: outputAudioDataSchema,
  current_task: currentTaskDataSchema,
  task_status: taskStatusDataSchema,
  error: streamErrorDataSchema,
  warning: streamWarningDataSchema,
  max_duration_reached: anything,
  session_revoked: anything,
  eos: anything,
  end_of_stream: anything,
  pipeline_timings: anything,
  tts_buffer_stats: anything,
} as const;
export type ServerMessageType = keyof typeof SERVER_MESSAGE_DATA;

/** A server message after parsing, its data already read from a JSON string where the service sent one (4.7 rule 3). */
export type ServerMessage = {
  [K in ServerMessageType]: { message_type: K; data: z.infer<(typeof SERVER_MESSAGE_DATA)[K]> };
}[ServerMessageType];

/** What came of one text frame: a message, something to ignore (and why), or something malformed (and why). */
export type ParsedFrame =
  | { kind: 'message'; message: ServerMessage }
  | { kind: 'unknown'; type: string | null }
  | { kind: 'malformed'; reason: string };

/** The envelope is read by hand, because sound comes in many frames a second; null for what is none. */
function readFrame(json: unknown): { type: string | null; data: unknown } | null {
  if (!isObject(json)) return null;
  const { message_type: type, data } = json;
  if (type !== undefined && typeof type !== 'string') return null;
  return { type: type ?? null, data };
}

function isKnown(type: string): type is ServerMessageType {
  return Object.hasOwn(SERVER_MESSAGE_DATA, type);
}

function unwrap(data: unknown): unknown {
  if (typeof data !== 'string') return data ?? {};
  const json = parseJson(data);
  return json === undefined ? data : json;
}

/**
 * Reads one text frame of the service, tolerantly: unknown types, extra keys, `{}` and frames without
 * a `message_type` are no errors. Never throws; the reason of a malformed frame names no content.
 */
export function parseServerFrame(text: string): ParsedFrame {
  const json = parseJson(text);
  if (json === undefined) return { kind: 'malformed', reason: 'not JSON' };
  const frame = readFrame(json);
  if (frame === null) return { kind: 'malformed', reason: 'not an object with a message_type' };
  const { type } = frame;
  if (type === null || !isKnown(type)) return { kind: 'unknown', type };
  const data = SERVER_MESSAGE_DATA[type].safeParse(unwrap(frame.data));
  if (!data.success) {
    const where = data.error.issues[0]?.path.join('.') || 'data';
    return { kind: 'malformed', reason: `${type}: unexpected ${where}` };
  }
  return { kind: 'message', message: { message_type: type, data: data.data } as ServerMessage };
}
