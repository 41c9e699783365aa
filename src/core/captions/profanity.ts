import { primaryOf } from '../replay/language-tags.ts';
import { segmentsOf } from './words.ts';

/**
 * Words that are masked, as beginnings in lower case; a word is masked when it begins with one. The list is short on
 * purpose: a mask that hides harmless words is worse than a curse that stays.
 */
const BEGINNINGS: Readonly<Record<string, readonly string[]>> = {
  de: ['arschl', 'fick', 'fotze', 'hurensohn', 'scheiß', 'scheiss', 'wichser'],
  en: ['asshole', 'bullshit', 'cunt', 'fuck', 'motherfuck', 'nigger', 'shit', 'wank'],
  es: ['cabron', 'cabrón', 'gilipollas', 'hijoput', 'joder', 'mierda', 'pendej', 'puta', 'puto'],
  fr: ['connard', 'connasse', 'encul', 'merde', 'putain', 'salope'],
  it: ['cazzo', 'coglion', 'merda', 'puttana', 'stronz', 'vaffancul'],
  nl: ['godverdomme', 'hoer', 'klootzak', 'kut'],
  pl: ['chuj', 'jeb', 'kurw', 'pierdol', 'skurw'],
  pt: ['caralho', 'foda', 'merda', 'porra', 'puta'],
  ru: ['бля', 'ебан', 'ебат', 'пизд', 'сука', 'хуй', 'хуё'],
  tr: ['amına', 'orospu', 'siktir'],
  uk: ['бля', 'їбан', 'пизд', 'сука', 'хуй'],
};

/** Replaces all but the first letter of profane words by asterisks. Each word is judged alone, so shown words stay. */
export function maskProfanity(text: string, language: string): string {
  const beginnings = BEGINNINGS[primaryOf(language)];
  if (beginnings === undefined) return text;
  return segmentsOf(text, language)
    .map(({ text: word }) => (isProfane(word, beginnings) ? mask(word) : word))
    .join('');
}

function isProfane(word: string, beginnings: readonly string[]): boolean {
  const lower = word.toLowerCase();
  return beginnings.some((beginning) => lower.startsWith(beginning));
}

function mask(word: string): string {
  const [first = '', ...rest] = word;
  return first + '*'.repeat(rest.length);
}
