/** The part `conversation` of the configuration. */
import * as z from 'zod';
import { languageSchema } from './common/language.ts';
import { plainTextSchema } from './common/plain-text.ts';

const END_AFTER_S = { min: 10, max: 3600, default: 90 } as const;
const WARN_BEFORE_S = { min: 0, max: 300, default: 20 } as const;
const LONGEST_NOTICE = 400;

const noticeText = plainTextSchema
  .max(LONGEST_NOTICE)
  .refine((text) => text.trim() !== '', 'must not be empty')
  .describe('Your own text in this language.');

export const conversationSchema = z
  .strictObject({
    endAfter: z
      .number()
      .min(END_AFTER_S.min)
      .max(END_AFTER_S.max)
      .default(END_AFTER_S.default)
      .describe('Seconds without speech that end a conversation.'),
    warnBefore: z
      .number()
      .min(WARN_BEFORE_S.min)
      .max(WARN_BEFORE_S.max)
      .default(WARN_BEFORE_S.default)
      .describe(
        'Seconds before that end at which the page asks whether somebody is still there, at most half of endAfter; 0: never.',
      ),
    notice: z
      .union([z.boolean(), z.record(languageSchema, noticeText)])
      .default(true)
      .describe(
        'Tell visitors at the beginning that an AI interprets and nothing is kept; an object sets your own texts by language, such as {"es": "..."}.',
      ),
  })
  .prefault({})
  .describe('Beginning and end of a conversation.');
export type ConversationConfig = z.infer<typeof conversationSchema>;
