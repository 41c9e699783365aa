import { z } from 'zod';

/** Control characters: they truncate a text (NUL in a file name) or break a line (in a log, a header, a topic). */
const CONTROL = /\p{Cc}/u;
export const PLAIN = 'must not contain control characters such as NUL or a line break';

export function isPlain(text: string): boolean {
  return !CONTROL.test(text);
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
  return json.replace(STEERING, (found) =>
    Array.from(
      { length: found.length },
      (_, at) => `\\u${found.charCodeAt(at).toString(16).padStart(4, '0')}`,
    ).join(''),
  );
}

/** One line of text from a person or another program. */
export const plainTextSchema = z.string().refine(isPlain, PLAIN);
