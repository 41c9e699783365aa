import * as z from 'zod';

/** Control characters: they truncate a text (NUL in a file name) or break a line (in a log, a header, a topic). */
const CONTROL = /\p{Cc}/u;
export const PLAIN = 'must not contain control characters such as NUL or a line break';

export function isPlain(text: string): boolean {
  return !CONTROL.test(text);
}

/** Removes a leading byte order mark and one line end, as editors add them. */
export function withoutEditorMarks(text: string): string {
  return text.replace(/^\ufeff/, '').replace(/\r?\n$/, '');
}

/** A character that is invisible or looks like an ordinary blank: other blanks, and formatting characters. */
const UNSEEN = '[\\p{Zs}\\p{Zl}\\p{Zp}\\p{Cf}\\p{Default_Ignorable_Code_Point}]';
const UNSEEN_FIRST = new RegExp(`^${UNSEEN}`, 'u');
const UNSEEN_LAST = new RegExp(`${UNSEEN}$`, 'u');
/** Within a text, ordinary blanks are allowed. */
const UNSEEN_WITHIN = new RegExp(`(?! )${UNSEEN}`, 'u');

/**
 * Names blanks at the ends of a text, and no-break and zero-width characters anywhere in it. Most come from copying.
 * @returns a predicate such as `ends with a blank`; null when there are none
 */
export function unseenCharacters(text: string): string | null {
  const [first] = UNSEEN_FIRST.exec(text) ?? [];
  const [last] = UNSEEN_LAST.exec(text) ?? [];
  const inner = text.slice(first?.length ?? 0, text.length - (last?.length ?? 0));
  const [within] = UNSEEN_WITHIN.exec(inner) ?? [];
  const parts = [
    first === undefined ? [] : [`begins with ${nameUnseen(first)}`],
    within === undefined ? [] : [`contains ${nameUnseen(within)}`],
    last === undefined ? [] : [`ends with ${nameUnseen(last)}`],
  ].flat();
  return parts.length === 0 ? null : parts.join(' and ');
}

function nameUnseen(character: string): string {
  if (character === ' ') return 'a blank';
  const code = `U+${(character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}`;
  if (/[\u00a0\u2007\u202f]/.test(character)) return `a no-break space (${code})`;
  if (character === '\u3000') return `a wide blank (${code})`;
  return /\p{Z}/u.test(character) ? `an unusual blank (${code})` : `a zero-width character (${code})`;
}

/** Characters that control a terminal, or reorder, hide or break text. Newlines and joiners (U+200C, U+200D) are allowed. */
const STEERING = /[^\P{Cc}\n]|[\p{Zl}\p{Zp}]|(?![\u200c\u200d])\p{Cf}/gu;

/** Replaces all characters that could control a terminal; newlines stay. */
export function harmless(text: string): string {
  return text.replace(STEERING, '?');
}

/** Like `harmless`, but on one line: line breaks become blanks. */
export function oneLine(text: string): string {
  return harmless(text.replace(/[\t-\r\u0085\p{Zl}\p{Zp}]+/gu, ' '));
}

/** A line for people. Text from outside cannot start a second line. */
export function textLine(text: string): string {
  return `${oneLine(text)}\n`;
}

/** A line for programs. */
export function jsonLine(value: object): string {
  return `${escapeSteering(JSON.stringify(value))}\n`;
}

/** Equivalent JSON with escapes for DEL, C1 controls and invisible characters, which could control a terminal. */
export function escapeSteering(json: string): string {
  return json.replace(STEERING, (steering) =>
    Array.from(
      { length: steering.length },
      (_, at) => `\\u${steering.charCodeAt(at).toString(16).padStart(4, '0')}`,
    ).join(''),
  );
}

/** One line of text from a person or another program. */
export const plainTextSchema = z.string().refine(isPlain, PLAIN);
