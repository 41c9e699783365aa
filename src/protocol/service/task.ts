import * as z from 'zod';
import { languageSchema } from '../common/language.ts';

/** Sample rates that the service accepts as input (Hz). */
export const INPUT_RATE_HZ = { min: 16_000, max: 48_000 } as const;

const sampleRateSchema = z.number().int().min(INPUT_RATE_HZ.min).max(INPUT_RATE_HZ.max);
const channelsSchema = z.number().int().min(1).max(2);

/** Source and format of the speech (docs/service.md 4.7, `set_task`). */
export const inputStreamSchema = z.looseObject({
  content_type: z.literal('audio'),
  source: z.looseObject({
    type: z.literal('ws'),
    /** `wav`, known from public clients: PCM with a header in the first frame. */
    format: z.enum(['pcm_s16le', 'wav']),
    sample_rate: sampleRateSchema,
    channels: channelsSchema,
  }),
});

/** Target and format of the translated speech (docs/service.md 4.7, `set_task`). */
export const outputStreamSchema = z.looseObject({
  content_type: z.literal('audio'),
  target: z.looseObject({
    type: z.literal('ws'),
    /** `zlib_pcm_s16le`, known from public clients: each chunk compressed. */
    format: z.enum(['pcm_s16le', 'zlib_pcm_s16le']),
    sample_rate: z.number().int().min(8000).max(48_000).optional(),
    channels: channelsSchema.optional(),
  }),
});

/** One target language (docs/service.md 4.7; `voice_id` and `voice_cloning` are known from public clients). */
export const translationSchema = z.looseObject({
  target_language: languageSchema,
  /** Known from public clients: only sentences in these languages are translated into this one. */
  allowed_source_languages: z.array(languageSchema).optional(),
  speech_generation: z
    .looseObject({ voice_id: z.string().min(1).optional(), voice_cloning: z.boolean().optional() })
    .optional(),
});

/** Processing of the audio by the service (docs/service.md 4.7, `set_task`). */
export const pipelineSchema = z.looseObject({
  preprocessing: z.looseObject({}).optional(),
  transcription: z.looseObject({
    /** `auto`, known from public clients: the service detects the language. */
    source_language: languageSchema.or(z.literal('auto')),
    /** With `auto`, known from public clients: the languages to expect. */
    detectable_languages: z.array(languageSchema).optional(),
    segment_confirmation_silence_threshold: z.number().min(0.3).max(2).optional(),
  }),
  translations: z.array(translationSchema).min(1),
  allowed_message_types: z.array(z.string()).optional(),
  translation_queue_configs: z.record(z.string(), z.looseObject({})).optional(),
});

/** The data of `set_task`: the whole task. Unknown keys are kept. */
export const taskSchema = z.looseObject({
  input_stream: inputStreamSchema,
  /** `null`, known from public clients: texts only. */
  output_stream: outputStreamSchema.nullable(),
  pipeline: pipelineSchema,
});
export type Task = z.infer<typeof taskSchema>;
