import { primaryOf } from './language-tag.ts';

/** The languages that public clients of a live service list, by their primary tags. */
const HEARD = new Set(
  'ar ba be bg bn ca cs cy da de el en eo es et eu fa fi fr ga gl he hi hr hu ia id it ja ko lt lv mn mr ms mt nl no pl pt ro ru sk sl sv sw ta th tr ug uk ur vi yue zh'.split(
    ' ',
  ),
);
const SPOKEN = new Set(
  'ar bg cs da de el en es fi fil fr hi hr hu id it ja ko ms nl pl pt ro ru sk sv ta tr uk yue zh'.split(' '),
);

/** Whether the service is known to understand a language. */
export const isHeardLanguage = (language: string): boolean => HEARD.has(primaryOf(language));

/** Whether the service is known to speak a language. */
export const isSpokenLanguage = (language: string): boolean => SPOKEN.has(primaryOf(language));

/** The primary tags of all languages that the service is known to speak. */
export const SPOKEN_LANGUAGES: readonly string[] = [...SPOKEN];
