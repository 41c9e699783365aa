/** The part `phrases` of the configuration. */
import * as z from 'zod';
import { languageSchema } from './common/language.ts';
import { plainTextSchema } from './common/plain-text.ts';
import { fileSchema } from './config-sound.ts';

const MOST_PHRASES = 20;
/** Two short sentences: they must fit on a small screen in large letters, in any language. */
const LONGEST_PHRASE = 160;

const phraseText = plainTextSchema
  .max(LONGEST_PHRASE, `must have at most ${LONGEST_PHRASE} characters`)
  .refine((text) => text.trim() !== '', 'must not be empty');

/** One phrase: its text by language. */
const phraseSchema = z
  .record(z.string(), phraseText)
  .superRefine((texts, context) => {
    const tags = Object.keys(texts).map((tag) => tag.toLowerCase());
    for (const tag of Object.keys(texts)) {
      const [issue] = languageSchema.safeParse(tag).error?.issues ?? [];
      if (issue !== undefined) context.addIssue({ code: 'custom', path: [tag], message: issue.message });
    }
    if (tags.length === 0)
      context.addIssue('must hold a text in at least one language, such as {"en": "..."}');
    const twice = tags.find((tag, at) => tags.indexOf(tag) < at);
    if (twice !== undefined) context.addIssue(`must not name the language "${twice}" twice`);
  })
  .describe('A phrase: its text by language, such as {"en": "...", "es": "..."}.');

export const phrasesSchema = z
  .strictObject({
    folder: fileSchema
      .nullable()
      .default(null)
      .describe(
        'Folder with the sound files that "dragoman-backend phrases make" has written; null: the phrases are shown, not spoken.',
      ),
    list: z
      .array(phraseSchema)
      .min(1, 'must contain at least one phrase')
      .max(MOST_PHRASES, `must contain at most ${MOST_PHRASES} phrases`)
      .describe('The phrases, in the order of the page.'),
  })
  .nullable()
  .default(null)
  .describe('Phrases that people at the kiosk choose on the page while it cannot interpret; null: none.');

export type PhrasesConfig = NonNullable<z.infer<typeof phrasesSchema>>;
