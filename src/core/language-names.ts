import { primaryOf } from '../protocol/common/language-tag.ts';

const RIGHT_TO_LEFT = /^(ar|he|iw|fa|ur|ps|sd|ug|yi|dv|ckb)\b/i;

export function directionOf(language: string): 'rtl' | 'ltr' {
  return RIGHT_TO_LEFT.test(language) ? 'rtl' : 'ltr';
}

/** Names asked for before: the engine takes milliseconds for one, and the kiosk's page asks at each letter that is typed. */
const known = new Map<string, string>();

/** The name of a language in that language: "Español". */
export function ownName(language: string): string {
  const before = known.get(language);
  if (before !== undefined) return before;
  const [name, tag] = nameOf(language);
  const written = name.charAt(0).toLocaleUpperCase(tag) + name.slice(1);
  known.set(language, written);
  return written;
}

/** The name of a language, and the tag that yields it. A tag that fits our pattern may still be invalid, such as "en-us-us". */
function nameOf(language: string): readonly [name: string, tag: string] {
  for (const tag of [language, primaryOf(language)]) {
    try {
      const name = new Intl.DisplayNames([tag], { type: 'language' }).of(tag);
      if (name !== undefined) return [name, tag];
    } catch (error) {
      if (!(error instanceof RangeError)) throw error;
    }
  }
  return [language, 'und'];
}
