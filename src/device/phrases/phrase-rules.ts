import { primaryOf } from '../../protocol/common/language-tag.ts';

/** The text of a phrase, and the tag under which the owner has written it. */
export interface PhraseIn {
  readonly language: string;
  readonly text: string;
}

/** The text in this language, else in another variety of it; null: none. @param texts by language */
export function phraseIn(texts: Readonly<Record<string, string>>, language: string): PhraseIn | null {
  const tags = Object.keys(texts);
  const wanted = language.toLowerCase();
  const tag =
    tags.find((one) => one.toLowerCase() === wanted) ??
    tags.find((one) => one.toLowerCase() === primaryOf(wanted)) ??
    tags.find((one) => primaryOf(one) === primaryOf(wanted));
  const text = tag === undefined ? undefined : texts[tag];
  return tag === undefined || text === undefined ? null : { language: tag, text };
}
