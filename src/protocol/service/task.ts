import { z } from 'zod';
import { languageSchema } from '../language.ts';

/** Sample rates the service takes for its input, hertz. */
export const INPUT_RATE_HZ = { min: 16_000, max: 48_000 } as const;

const sampleRateSchema = z.number().int().min(INPUT_RATE_HZ.min).max(INPUT_RATE_HZ.max);
const channelsSchema = z.number().int().min(1).max(2);

/** Where the speech comes from and in which form (docs/service.md 4.7, `set_task`). */
export const inputStreamSchema = z.looseObject({
  content_type: z.literal('audio'),
  source: z.looseObject({
    type: z.literal('ws'),
    /** `wav` by public clients: PCM behind a header in the first frame. */
    format: z.enum(['pcm_s16le', 'wav']),
    sample_rate: sampleRateSchema,
    channels: channelsSchema,
  }),
});

/** Where the translated speech goes and in which form (docs/service.md 4.7, `set_task`). */
export const outputStreamSchema = z.looseObject({
  content_type: z.literal('audio'),
  target: z.looseObject({
    type: z.literal('ws'),
    /** `zlib_pcm_s16le` by public clients: each chunk compressed. */
    format: z.enum(['pcm_s16le', 'zlib_pcm_s16le']),
    sample_rate: z.number().int().min(8000).max(48_000).optional(),
    channels: channelsSchema.optional(),
  }),
});

/** One target language (docs/service.md 4.7; `voice_id` and `voice_cloning` by public clients). */
export const translationSchema = z.looseObject({
  target_language: languageSchema,
  /** By public clients: sentences in other languages are not translated into this one. */
  allowed_source_languages: z.array(languageSchema).optional(),
  speech_generation: z
    .looseObject({ voice_id: z.string().min(1).optional(), voice_cloning: z.boolean().optional() })
    .optional(),
});

/** What the service is asked to do with the audio (docs/service.md 4.7, `set_task`). */
export const pipelineSchema = z.looseObject({
  preprocessing: z.looseObject({}).optional(),
  transcription: z.looseObject({
    /** `auto` by public clients: the service finds out. */
    source_language: languageSchema.or(z.literal('auto')),
    /** With `auto`, by public clients: what may be spoken. */
    detectable_languages: z.array(languageSchema).optional(),
    segment_confirmation_silence_threshold: z.number().min(0.3).max(2).optional(),
  }),
  translations: z.array(translationSchema).min(1),
  allowed_message_types: z.array(z.string()).optional(),
  translation_queue_configs: z.record(z.string(), z.looseObject({})).optional(),
});

/** The data of `set_task`: the whole task. Keys that are not known here pass through. */
export const taskSchema = z.looseObject({
  input_stream: inputStreamSchema,
  /** `null` by public clients: texts only. */
  output_stream: outputStreamSchema.nullable(),
  pipeline: pipelineSchema,
});
export type Task = z.infer<typeof taskSchema>;
