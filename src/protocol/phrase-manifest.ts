/** `manifest.json` in the folder of the phrases: which sound file speaks which text. `dragoman-backend phrases make` writes it. */
import * as z from 'zod';
import { languageSchema } from './common/language.ts';

export const PHRASE_MANIFEST = 'manifest.json';
/** Largest manifest (bytes): twenty phrases in all languages have a fifth of it. */
export const LARGEST_MANIFEST_BYTES = 1_000_000;
/** Longest sound of a phrase (s). */
export const LONGEST_PHRASE_S = 30;

const FILE = /^[a-z]{2,3}(-[A-Za-z0-9]{2,8})*\/[a-z0-9-]{1,64}\.wav$/;

const soundSchema = z.object({
  language: languageSchema,
  text: z.string(),
  file: z.string().regex(FILE, 'must be a name such as "en/0f3a.wav", without other folders'),
  /** SHA-256 of the file, hexadecimal. */
  sha256: z.string().regex(/^[0-9a-f]{64}$/, 'must be a SHA-256 in hexadecimal'),
});
export type PhraseSound = z.infer<typeof soundSchema>;

export const phraseManifestSchema = z.object({
  format: z.literal(1),
  phrases: z.array(soundSchema).max(2000),
});
export type PhraseManifest = z.infer<typeof phraseManifestSchema>;
