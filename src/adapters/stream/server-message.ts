import * as z from 'zod';
import { isObject, parseJson } from '../../protocol/common/json.ts';

/** The four transcripts: source or target language, interim or final. All have one shape. */
export const TRANSCRIPT_TYPES = [
  'partial_transcription',
  'validated_transcription',
  'partial_translated_transcription',
  'translated_transcription',
] as const;

/**
 * Only a field that docs/service.md 6 specifies can make a message unusable. Any other field with an unusable type counts as
 * missing, so that the rest of the message is not lost.
 */
const optionalText = z.string().nullish().catch(null);
const optionalNumber = z.number().nullish().catch(null);

/** Maximum length of a name or language tag (characters), because both are kept with their sentence. Longer ones are ignored. */
const LONGEST_NAME = 200;
const shortText = z.string().max(LONGEST_NAME);

/** An id or a code. A number is converted to a string; an empty string counts as missing. */
const nameSchema = z
  .union([shortText.min(1), z.number().transform(String)])
  .nullish()
  .catch(null);

/** A part id: a number in transcripts, a string in audio. Both are converted to a string. */
const partIdSchema = z
  .union([shortText, z.number().transform(String)])
  .nullish()
  .catch(null);

/** Tag for a language that the service does not name (BCP 47: undetermined). */
const NO_LANGUAGE = 'und';

/** A segment of a transcript, in seconds of the stream's audio, as a live service sends it. */
const segmentSchema = z.looseObject({ start: z.number().nullish(), end: z.number().nullish() });

/** Keeps the first and the last segment: only the begin and the end are used. */
function firstAndLast(segments: unknown): unknown {
  return Array.isArray(segments) && segments.length > 2 ? [segments[0], segments.at(-1)] : segments;
}

/** Data of the four transcripts. Only `text` and `language` are specified (6). A partial contains the whole text so far. */
export const transcriptDataSchema = z.looseObject({
  transcription: z.looseObject({
    transcription_id: nameSchema,
    translation_part_id: partIdSchema,
    language: shortText.catch(NO_LANGUAGE),
    text: z.string(),
    segments: z.preprocess(firstAndLast, z.array(segmentSchema).nullish().catch(null)),
  }),
});

/** Accepts a last chunk without audio: a sentence may end that way. */
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

const isName = (value: unknown): value is string =>
  typeof value === 'string' && value.length > 0 && value.length <= LONGEST_NAME;

/** Keys of a message with sound, each with a check for the form that the schema leaves unchanged. */
const USUAL_SOUND = new Map<string, (value: unknown) => boolean>([
  ['data', (value) => typeof value === 'string'],
  ['transcription_id', isName],
  ['translation_part_id', isName],
  ['language', isName],
  ['last_chunk', (value) => typeof value === 'boolean'],
  ['chunk_generation_delta', (value) => typeof value === 'number'],
]);

/** Sound comes several times a second, and nearly always in the form that the schema leaves as it is. */
function isUsualSound(data: unknown): data is z.infer<typeof outputAudioDataSchema> {
  if (!isObject(data) || typeof data['data'] !== 'string') return false;
  for (const key of Object.keys(data)) if (USUAL_SOUND.get(key)?.(data[key]) !== true) return false;
  return true;
}

/** Data of `current_task`: the current task in an unspecified form, plus `task_status` on a live service. */
export const currentTaskDataSchema = z
  .looseObject({
    task_status: z.string().optional().catch(undefined),
    /** Read only if it has the form in which the task was set. */
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

/** Accepts a plain text instead of an object. */
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

/** Data of `warning`: the stream continues. */
export const streamWarningDataSchema = z.preprocess(
  inWords('message'),
  z.looseObject({ code: nameSchema, message: optionalText }).catch({}),
);

const anything = z.unknown();

/** Maximum length of a message without its audio (characters): far more than a transcript of several minutes with word times. */
const MOST_CHARS = 256 * 1024;

/** Data schema by `message_type`. Other types are ignored. */
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

/** A parsed server message. Data that came as a JSON string (4.7 rule 3) is parsed, too. */
export type ServerMessage = {
  [K in ServerMessageType]: { message_type: K; data: z.infer<(typeof SERVER_MESSAGE_DATA)[K]> };
}[ServerMessageType];

/** Result of parsing one text frame: a message, an unknown type, or malformed with a reason. */
export type ParsedFrame =
  | { kind: 'message'; message: ServerMessage }
  | { kind: 'unknown'; type: string | null }
  | { kind: 'malformed'; type: ServerMessageType | null; reason: string };

/** Reads the envelope without a schema, because there are many audio frames per second; null if it is invalid. */
function readFrame(json: unknown): { type: string | null; data: unknown } | null {
  if (!isObject(json)) return null;
  const { message_type: type, data } = json;
  if (type !== undefined && typeof type !== 'string') return null;
  return { type: type ?? null, data };
}

function isKnown(type: string): type is ServerMessageType {
  return Object.hasOwn(SERVER_MESSAGE_DATA, type);
}

/** Whether a message exceeds the length at which validation would delay everything else. */
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
 * a `message_type` are not errors. Never throws. The reason of a malformed frame contains none of its content.
 */
export function parseServerFrame(text: string): ParsedFrame {
  const json = parseJson(text);
  if (json === undefined) return { kind: 'malformed', type: null, reason: 'a text that is not JSON' };
  const frame = readFrame(json);
  if (frame === null) return { kind: 'malformed', type: null, reason: 'JSON without a message_type' };
  const { type } = frame;
  if (type === null || !isKnown(type)) return { kind: 'unknown', type };
  const content = unwrap(frame.data);
  if (isTooLong(text, content)) return { kind: 'malformed', type, reason: `${type} that is too long` };
  if (type === 'output_audio_data' && isUsualSound(content))
    return { kind: 'message', message: { message_type: type, data: content } };
  const data = SERVER_MESSAGE_DATA[type].safeParse(content);
  if (!data.success) {
    const where = data.error.issues[0]?.path.join('.') || 'data';
    return { kind: 'malformed', type, reason: `${type} without a usable ${where}` };
  }
  return { kind: 'message', message: { message_type: type, data: data.data } as ServerMessage };
}
