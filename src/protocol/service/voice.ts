import * as z from 'zod';

/** File types accepted as a voice sample (docs/service.md 4.4). */
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

/** Meaning of `\w` in docs/service.md 4.4, which does not say whether it includes letters outside ASCII. */
type Letters = 'ascii' | 'unicode';
const WORD: Readonly<Record<Letters, string>> = { ascii: '\\w', unicode: '\\p{L}\\p{M}\\p{N}_' };

/** A text of letters, digits, `_` and `others`. The limits count characters, not UTF-16 units. */
function nameSchema(letters: Letters, others: string, limits: { min: number; max: number }, may: string) {
  const pattern = new RegExp(`^[${WORD[letters]}${others}]+$`, 'u');
  return z
    .string()
    .refine((text) => [...text].length >= limits.min, `must have at least ${limits.min} characters`)
    .refine((text) => [...text].length <= limits.max, `must have at most ${limits.max} characters`)
    .refine((text) => pattern.test(text), `may hold letters, digits, ${may}`);
}

function sampleSchema(letters: Letters) {
  return z.object({
    filename: nameSchema(letters, `\\-. '"\\(\\)`, { min: 3, max: 255 }, '_ - . space \' " ( )'),
    mime_type: z.enum(SAMPLE_MIME_TYPES),
    display_name: z.string().optional(),
    description: z.string().optional(),
    item_id: z.string().min(1).max(36).optional(),
    denoise: z.boolean().optional(),
    speech_normalization: z.boolean().optional(),
    lang_code: z.string().optional(),
  });
}

function requestSchema(letters: Letters) {
  return z.object({
    data: z.object({
      name: nameSchema(letters, '\\-. ', { min: 3, max: 64 }, '_ - . and space'),
      samples: z.array(sampleSchema(letters)).length(1, 'exactly 1 sample is allowed at present'),
      description: z.string().optional(),
      labels: z.record(z.string(), z.string()).optional(),
    }),
  });
}

/** Body of `POST {base_url}/saas/voice/clone` (docs/service.md 4.4), with names that are valid in either meaning of `\w`. */
export const cloneVoiceRequestSchema = requestSchema('ascii');
/** `cloneVoiceRequestSchema` with letters of any script in names. */
export const unicodeCloneVoiceRequestSchema = requestSchema('unicode');
export type CloneVoiceRequest = z.infer<typeof cloneVoiceRequestSchema>;

/** Where and how one sample is uploaded (docs/service.md 2.3). */
export const uploadTargetSchema = z.looseObject({
  item_id: z.string().min(1).max(36),
  blob_id: z.string().min(1),
  url: z.url().min(1).max(2083),
  form_data: z.record(z.string(), z.string()),
});
export type UploadTarget = z.infer<typeof uploadTargetSchema>;

/** Progress of a cloned voice (docs/service.md 3.2). */
export const processingStatusSchema = z.enum(['created', 'pending', 'ready', 'failed']);
export type ProcessingStatus = z.infer<typeof processingStatusSchema>;

/** A voice (docs/service.md 2.2), read leniently. */
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
