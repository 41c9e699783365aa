/** Makes text from outside safe to display. */

/** Characters that reorder others or are invisible: no name needs them. */
const INVISIBLE = /[\p{Cc}\u061c\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff]/gu;
const LONGEST_SHOWN = 4000;

/** Replaces invisible characters, and truncates. */
export const cleaned = (text: string): string => text.replaceAll(INVISIBLE, '�').slice(0, LONGEST_SHOWN);

/** A value as indented JSON. All line ends come from the indentation, because JSON escapes line ends in the value. */
export const cleanedJson = (value: unknown): string =>
  JSON.stringify(value, null, 2).slice(0, LONGEST_SHOWN).split('\n').map(cleaned).join('\n');
