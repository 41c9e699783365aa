import * as z from 'zod';
import { languageSchema } from '../common/language.ts';
import { taskSchema } from './task.ts';

/** Allowed payload size of one `input_audio_data` (base64 characters); a live service enforces it. */
export const INPUT_AUDIO_CHARS = { min: 1024, max: 512 * 1024 } as const;

const none = z.looseObject({}).nullish();

export const setTaskMessageSchema = z.object({ message_type: z.literal('set_task'), data: taskSchema });
export const getTaskMessageSchema = z.object({
  message_type: z.literal('get_task'),
  data: z.looseObject({ exclude_hidden: z.boolean().optional() }).nullish(),
});
export const inputAudioMessageSchema = z.object({
  message_type: z.literal('input_audio_data'),
  data: z.looseObject({ data: z.string() }),
});
export const pauseTaskMessageSchema = z.object({ message_type: z.literal('pause_task'), data: none });
const interruptData = z
  .looseObject({ languages: z.array(z.string()).optional(), pause_task: z.boolean().optional() })
  .nullish();
export const interruptTaskMessageSchema = z.object({
  message_type: z.literal('interrupt_task'),
  data: interruptData,
});
export const flushTaskMessageSchema = z.object({
  message_type: z.literal('flush_task'),
  data: interruptData,
});
export const ttsTaskMessageSchema = z.object({
  message_type: z.literal('tts_task'),
  data: z.looseObject({
    text: z.string().min(1).max(2048),
    language: languageSchema,
    translate_text: z.boolean().optional(),
  }),
});
export const endTaskMessageSchema = z.object({
  message_type: z.literal('end_task'),
  data: z
    .looseObject({ eos_timeout: z.number().min(1).max(30).optional(), force: z.boolean().optional() })
    .nullish(),
});

/**
 * All client messages on a stream. Section 4.7 of docs/service.md shows `set_task`, `get_task` and `input_audio_data`;
 * public clients of a live service send the others.
 */
export const clientMessageSchema = z.discriminatedUnion('message_type', [
  setTaskMessageSchema,
  getTaskMessageSchema,
  inputAudioMessageSchema,
  pauseTaskMessageSchema,
  interruptTaskMessageSchema,
  flushTaskMessageSchema,
  ttsTaskMessageSchema,
  endTaskMessageSchema,
]);
export type ClientMessage = z.infer<typeof clientMessageSchema>;
