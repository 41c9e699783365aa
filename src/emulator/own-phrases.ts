import { readFileSync } from 'node:fs';
import * as z from 'zod';
import { systemReason } from '../adapters/system-error.ts';
import { EXIT, Failure } from '../program/problem.ts';
import { parseJson } from '../protocol/common/json.ts';
import type { PhraseBook } from './core/phrase-book.ts';

const MOST_PHRASES = 5000;
const language = z
  .string()
  .regex(/^[a-z]{2,3}(-[a-z0-9]{2,8})*$/, 'must be a language in lower case, such as "en" or "es-mx"');
const text = z.string().trim().min(1, 'must not be empty').max(500);

/** A list of phrases: the text of each by language. */
export const phraseBookSchema = z
  .array(z.record(language, text).refine((entry) => Object.keys(entry).length > 0, 'must have a language'))
  .min(1, 'must not be empty')
  .max(MOST_PHRASES);

/**
 * Reads a custom phrase book: `[{"en": "Good morning.", "es": "Buenos días."}, ...]`.
 * @throws Failure that names the problem
 */
export function readPhrases(file: string): PhraseBook {
  const refuse = (why: string): Failure =>
    new Failure(
      `--phrases: ${file} ${why}; give a list such as [{"en": "Hello.", "es": "Hola."}]`,
      EXIT.usage,
    );
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch (problem) {
    throw refuse(`cannot be read (${systemReason(problem)})`);
  }
  const json = parseJson(text);
  if (json === undefined) throw refuse('is not JSON');
  const parsed = phraseBookSchema.safeParse(json);
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  const words = issue?.code === 'invalid_key' ? issue.issues[0]?.message : issue?.message;
  const [entry, ...rest] = issue?.path ?? [];
  const place =
    entry === undefined
      ? ''
      : `entry ${Number(entry) + 1}${rest.length > 0 ? `, ${JSON.stringify(rest.join('.'))},` : ''} `;
  throw refuse(`cannot be used: ${place}${words ?? 'is wrong'}`);
}
