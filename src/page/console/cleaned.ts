/** Text from outside, made safe to look at. */

/** Characters that change the order of others, or are not seen: nothing of a name needs them. */
const INVISIBLE = /[\p{Cc}\u061c\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff]/gu;
const LONGEST_SHOWN = 4000;

/** Text from outside, as it may be shown. */
export const cleaned = (text: string): string => text.replaceAll(INVISIBLE, '�').slice(0, LONGEST_SHOWN);

/** A value as indented JSON. Its line ends are ours; control characters of the value are escaped. */
export const cleanedJson = (value: unknown): string =>
  JSON.stringify(value, null, 2).slice(0, LONGEST_SHOWN).split('\n').map(cleaned).join('\n');
