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

/**
 * Only what is specified (6) may make a message unusable. Every other field is read where it has a usable type, and is
 * otherwise as if it were left out: nothing that is understood is lost for it.
 */
const optionalText = z.string().nullish().catch(null);
const optionalNumber = z.number().nullish().catch(null);

/** Names and language tags are kept for as long as their sentence is known: what is longer is none. */
const LONGEST_NAME = 200;
const shortText = z.string().max(LONGEST_NAME);

/** A sentence's name: a number is its digits, and what is empty names nothing. */
const nameSchema = z
  .union([shortText.min(1), z.number().transform(String)])
  .nullish()
  .catch(null);

/** A part id is a number in texts and a string in audio: readers compare it as a string. */
const partIdSchema = z
  .union([shortText, z.number().transform(String)])
  .nullish()
  .catch(null);

/** Stands for a language that the service does not tell (BCP 47: undetermined). */
const NO_LANGUAGE = 'und';

/** A stretch of a transcript, in seconds of the stream's own audio, as a live service tells it. */
const segmentSchema = z.looseObject({ start: z.number().nullish(), end: z.number().nullish() });

/** Only where they begin and where they end is read, however many there are. */
function firstAndLast(segments: unknown): unknown {
  return Array.isArray(segments) && segments.length > 2 ? [segments[0], segments.at(-1)] : segments;
}

/** Data of the four transcripts. Only `text` and `language` are specified (6); a partial carries the whole text so far. */
export const transcriptDataSchema = z.looseObject({
  transcription: z.looseObject({
    transcription_id: nameSchema,
    translation_part_id: partIdSchema,
    language: shortText.catch(NO_LANGUAGE),
    text: z.string(),
    segments: z.preprocess(firstAndLast, z.array(segmentSchema).nullish().catch(null)),
  }),
});

/** The end of a sentence may come without any sound. */
function withoutSound(data: unknown): unknown {
  if (!isObject(data) || data['last_chunk'] !== true) return data;
  return data['data'] == null ? { ...data, data: '' } : data;
}

/** Data of `output_audio_data`. Only `data` is specified (6): base64 audio in the declared output format; may be empty. */
export const outputAudioDataSchema = z.preprocess(
  withoutSound,
  z.looseObject({
    data: z.string(),
    transcription_id: nameSchema,
    translation_part_id: partIdSchema,
    language: shortText.nullish().catch(null),
    last_chunk: z.boolean().nullish().catch(null),
    chunk_generation_delta: optionalNumber,
  }),
);

/** Data of `current_task`: the task as set, in a shape that is not specified, plus `task_status` on a live service. */
export const currentTaskDataSchema = z
  .looseObject({
    task_status: z.string().optional().catch(undefined),
    /** Read where it has the shape in which it was set. */
    pipeline: z
      .looseObject({ translations: z.array(z.looseObject({ target_language: shortText })) })
      .optional()
      .catch(undefined),
  })
  .catch({});

/** Data of `task_status`, a live service's acknowledgement of a command. */
export const taskStatusDataSchema = z
  .looseObject({ command: optionalText, event: optionalText, task_status: optionalText })
  .catch({});

/** Instead of an object there may be only words. */
function inWords(key: 'desc' | 'message'): (data: unknown) => unknown {
  return (data) => (typeof data === 'string' ? { [key]: data } : data);
}

/** Data of `error`: `NOT_FOUND` until a pipeline runs (4.7 rule 2); `error_code`/`reason` name a refusal (7). */
export const streamErrorDataSchema = z.preprocess(
  inWords('desc'),
  z
    .looseObject({
      code: nameSchema,
      desc: optionalText,
      param: z.unknown().optional(),
      reason: optionalText,
      error_code: z
        .union([
          z.number(),
          z
            .string()
            .regex(/^\d{1,9}$/)
            .transform(Number),
        ])
        .nullish()
        .catch(null),
    })
    .catch({}),
);

/** Data of `warning`: the stream goes on. */
export const streamWarningDataSchema = z.preprocess(
  inWords('message'),
  z.looseObject({ code: nameSchema, message: optionalText }).catch({}),
);

const anything = z.unknown();

/** Of a message, its sound not counted: many times what minutes of speech are, word by word with their times. */
const MOST_CHARS = 256 * 1024;

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
  | { kind: 'malformed'; type: ServerMessageType | null; reason: string };

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

/** Whether it is so long that to look at all of it would keep everything else waiting. */
function isTooLong(text: string, data: unknown): boolean {
  const sound = isObject(data) && typeof data['data'] === 'string' ? data['data'].length : 0;
  return text.length - sound > MOST_CHARS;
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
  if (json === undefined) return { kind: 'malformed', type: null, reason: 'a text that is not JSON' };
  const frame = readFrame(json);
  if (frame === null) return { kind: 'malformed', type: null, reason: 'JSON without a message_type' };
  const { type } = frame;
  if (type === null || !isKnown(type)) return { kind: 'unknown', type };
  const given = unwrap(frame.data);
  if (isTooLong(text, given)) return { kind: 'malformed', type, reason: `too long a ${type}` };
  const data = SERVER_MESSAGE_DATA[type].safeParse(given);
  if (!data.success) {
    const where = data.error.issues[0]?.path.join('.') || 'data';
    return { kind: 'malformed', type, reason: `${type} without a usable ${where}` };
  }
  return { kind: 'message', message: { message_type: type, data: data.data } as ServerMessage };
}
