import { primaryOf } from '../../protocol/common/language-tag.ts';
import type { Notice } from '../lane/state/lane-conversation.ts';
import shipped from './notices.json' with { type: 'json' };

/** The shipped texts, by language. */
export const NOTICES: Readonly<Record<string, string>> = shipped;

/** @param own the owner's texts, which take precedence */
export function noticeIn(language: string, own: Readonly<Record<string, string>>): Notice {
  for (const tag of [language, primaryOf(language), 'en']) {
    const text = textIn(own, tag) ?? textIn(NOTICES, tag);
    if (text !== undefined) return { language: tag === 'en' ? 'en' : language, text };
  }
  throw new Error('there is no notice in English');
}

function textIn(texts: Readonly<Record<string, string>>, tag: string): string | undefined {
  const name = Object.keys(texts).find((one) => one.toLowerCase() === tag.toLowerCase());
  return name === undefined ? undefined : texts[name];
}
