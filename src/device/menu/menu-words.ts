import { ownName } from '../../core/language-names.ts';
import { type Wording, wordingOf } from '../screen/wording.ts';
import { type MENU_SENTENCES, MENU_WORDS, type MenuLanguage, type MenuSound } from './menu-sounds.ts';
import sentences from './sentences.json' with { type: 'json' };

type Sentence = (typeof MENU_SENTENCES)[number];

const SENTENCES: Readonly<Record<MenuLanguage, Readonly<Record<Sentence, string>>>> = sentences;
const WORDS: readonly (keyof Wording & MenuSound)[] = MENU_WORDS;

/** The words of a sound, for whoever makes it: the page's own, as far as the page has them. */
export function menuWords(sound: MenuSound, language: MenuLanguage): string {
  if (sound === 'name') return ownName(language);
  const word = WORDS.find((one) => one === sound);
  return word === undefined ? SENTENCES[language][sound as Sentence] : wordingOf(language)[word];
}
