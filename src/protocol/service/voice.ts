import { z } from 'zod';

/** File types accepted as a voice sample (docs/service.md 4.4. */
export const SAMPLE_MIME_TYPES = [
  'audio/x-wav',
  'audio/wav',
  'audio/mp3',
  'audio/x-m4a',
  'audio/mpeg',
  'audio/flac',
  'video/webm',
  'video/mp4',
  'video/mpeg',
] as const;

/** One sample of a clone request (docs/service.md 4.4. */
export const voiceSampleSchema = z.object({
  filename: z
    .string()
    .min(3)
    .max(255)
    .regex(/^[\w\-. '"()]+$/, 'may hold letters, digits, _ - . space \' " ( )'),
  mime_type: z.enum(SAMPLE_MIME_TYPES),
  display_name: z.string().optional(),
  description: z.string().optional(),
  item_id: z.string().min(1).max(36).optional(),
  denoise: z.boolean().optional(),
  speech_normalization: z.boolean().optional(),
  lang_code: z.string().optional(),
});

/** Body of `POST {base_url}/saas/voice/clone` (docs/service.md 4.4. */
export const cloneVoiceRequestSchema = z.object({
  data: z.object({
    name: z
      .string()
      .min(3)
      .max(64)
      .regex(/^[\w\-. ]+$/, 'may hold letters, digits, _ - . and space'),
    samples: z.array(voiceSampleSchema).length(1, 'exactly 1 sample is possible at present'),
    description: z.string().optional(),
    labels: z.record(z.string(), z.string()).optional(),
  }),
});
export type CloneVoiceRequest = z.infer<typeof cloneVoiceRequestSchema>;

/** Where and how one sample is uploaded (docs/service.md 2.3. */
export const uploadTargetSchema = z.looseObject({
  item_id: z.string().min(1).max(36),
  blob_id: z.string().min(1),
  url: z.url().min(1).max(2083),
  form_data: z.record(z.string(), z.string()),
});
export type UploadTarget = z.infer<typeof uploadTargetSchema>;

/** Progress of a cloned voice (docs/service.md 3.2. */
export const processingStatusSchema = z.enum(['created', 'pending', 'ready', 'failed']);
export type ProcessingStatus = z.infer<typeof processingStatusSchema>;

/** A voice (docs/service.md 2.2, read leniently. */
export const voiceRecordSchema = z.looseObject({
  utc_created_at: z.string(),
  voice_id: z.string().min(1),
  user_id: z.string(),
  name: z.string(),
  voice_type: z.enum(['instantly_cloned', 'instantly_cloned_builtin']),
  processing_status: processingStatusSchema,
  processing_result: z
    .looseObject({ errors: z.array(z.unknown()).default([]), warnings: z.array(z.unknown()).default([]) })
    .nullish(),
  description: z.string().nullish(),
  labels: z.record(z.string(), z.unknown()).nullish(),
  lang_code: z.string().nullish(),
  samples: z.array(uploadTargetSchema).default([]),
});
export type VoiceRecord = z.infer<typeof voiceRecordSchema>;

/** HTTP paths below `{base_url}` (docs/service.md 4.4 and 4.6). */
export const VOICE_PATHS = {
  clone: '/saas/voice/clone',
  voice: (id: string) => `/saas/voice/m/${encodeURIComponent(id)}`,
} as const;
