/** The sounds of the spoken menu, each a file `LANGUAGE/SOUND.wav` that scripts/build-phrases makes. */
import { primaryOf } from '../../protocol/common/language-tag.ts';

/** Sentences that the page does not show. */
export const MENU_SENTENCES = ['menuKeys', 'menuTouch', 'menuVoices', 'menuClosed'] as const;

/** Words of the page. */
export const MENU_WORDS = [
  'talk',
  'repeat',
  'quieter',
  'louder',
  'language',
  'callStaff',
  'end',
  'begin',
  'nothingToRepeat',
  'quietest',
  'loudest',
  'called',
  'staffComing',
  'unanswered',
  'unreached',
  'failed',
  'ask',
] as const;

/** `name`: the language's own name. */
export const MENU_SOUNDS = ['name', ...MENU_SENTENCES, ...MENU_WORDS] as const;
export type MenuSound = (typeof MENU_SOUNDS)[number];

/** Languages with a free voice that reads their script. Those of Japanese, Thai and Hebrew spell letters. */
export const MENU_LANGUAGES = [
  'en',
  'de',
  'fr',
  'es',
  'it',
  'pt',
  'nl',
  'pl',
  'ru',
  'uk',
  'tr',
  'ar',
  'zh',
  'ko',
  'vi',
  'hi',
] as const;
export type MenuLanguage = (typeof MENU_LANGUAGES)[number];

/** The language of the sounds for this tag; null: there is no voice for it. */
export function voiceFor(tag: string): MenuLanguage | null {
  const primary = primaryOf(tag);
  return MENU_LANGUAGES.find((language) => language === primary) ?? null;
}
