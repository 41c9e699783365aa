import * as z from 'zod';
import { primaryOf } from './language-tag.ts';
import { isHeardLanguage, isSpokenLanguage, SPOKEN_LANGUAGES } from './service-languages.ts';

/** Maximum length of a language tag (characters): tags in use are far shorter (BCP 47 section 4.4.1). */
const LONGEST_TAG = 35;

/** A language tag that the service accepts: `en`, `es`, `pt-br`, `zh-Hant` (BCP 47, without extensions). */
export const languageSchema = z
  .string()
  .max(LONGEST_TAG, `must have at most ${LONGEST_TAG} characters`)
  .regex(/^[a-z]{2,3}(-[A-Za-z0-9]{2,8})*$/, 'must be a language tag such as "en", "es" or "pt-br"');

const isNamedOnce = (languages: readonly string[]): boolean =>
  new Set(languages.map((language) => language.toLowerCase())).size === languages.length;

/** Languages of the translations, in order of playback. */
export const targetsSchema = z
  .array(languageSchema)
  .min(1)
  .max(8)
  .refine(isNamedOnce, 'must not name a language twice');

const MOST_OFFERED = 24;

/** Languages that visitors may choose, in the order in which the screen and the menu list them. */
export const offerSchema = z
  .array(
    languageSchema.refine(
      isSpokenLanguage,
      `must be a language that the service speaks: ${SPOKEN_LANGUAGES.join(', ')}`,
    ),
  )
  .max(MOST_OFFERED)
  .refine(isNamedOnce, 'must not name a language twice');

/** Tags of a valid form that name no known language or region, such as `xx`: probably typing errors. */
export function unknownLanguages(tags: readonly string[]): string[] {
  return tags.filter((tag) => !isUsual(tag) && !isNamed(tag));
}

/** A language of the service, without a region. */
const isUsual = (tag: string): boolean => primaryOf(tag) === tag && isHeardLanguage(tag);

/** Loads the engine's name tables (7 MB, 14 ms): only called for unusual tags. */
function isNamed(tag: string): boolean {
  try {
    return new Intl.DisplayNames(['en'], { type: 'language', fallback: 'none' }).of(tag) !== undefined;
  } catch {
    return false;
  }
}

/** Describes a conflict between a source and its targets; null without a conflict. */
export function languageClash(source: string, targets: readonly string[]): string | null {
  const same = targets.find((target) => target.toLowerCase() === source.toLowerCase());
  return same === undefined ? null : `must not name "${same}", which is the source already`;
}
