/** The sounds of the spoken menu: scripts/build-phrases makes them, and the package holds them. */
import { ownName } from '../../core/language-names.ts';
import { primaryOf } from '../../protocol/language-tag.ts';
import { type Wording, wordingOf } from '../screen/wording.ts';
import sentences from './sentences.json' with { type: 'json' };

/** Sentences that the page does not show. */
const SENTENCES = ['menuKeys', 'menuTouch', 'menuVoices', 'menuClosed'] as const;
type Sentence = (typeof SENTENCES)[number];

/** Words of the page. */
const WORDS = [
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
] as const satisfies readonly (keyof Wording)[];

/** `name`: the language's own name. Each is a file `LANGUAGE/SOUND.wav`. */
export const MENU_SOUNDS = ['name', ...SENTENCES, ...WORDS] as const;
export type MenuSound = (typeof MENU_SOUNDS)[number];

const SAID: Readonly<Record<string, Readonly<Record<Sentence, string>>>> = sentences;

/** Languages with a free voice that reads their script. Those of Japanese, Thai and Hebrew spell letters. */
export const MENU_LANGUAGES: readonly string[] = Object.keys(SAID);

/** The language of the sounds for this tag; null: there is no voice for it. */
export function voiceFor(tag: string): string | null {
  const primary = primaryOf(tag);
  return MENU_LANGUAGES.includes(primary) ? primary : null;
}

/** The words of a sound. */
export function menuWords(sound: MenuSound, language: string): string {
  const own = SAID[language];
  if (own === undefined) throw new Error(`the menu has no voice for "${language}"`);
  if (sound === 'name') return ownName(language);
  return isSentence(sound) ? own[sound] : wordingOf(language)[sound];
}

const isSentence = (sound: MenuSound): sound is Sentence => SENTENCES.some((one) => one === sound);
