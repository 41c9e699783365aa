import { z } from 'zod';

/** Control characters cut a text short (NUL in a file's name) or break a line (in a log, a header, a topic). */
const CONTROL = /\p{Cc}/u;
export const PLAIN = 'must not hold control characters such as NUL or a line break';

export function isPlain(text: string): boolean {
  return !CONTROL.test(text);
}

/** Steers a terminal, or reorders, hides or breaks what follows. The end of a line stays, and what joins letters and emoji. */
const STEERING = /[^\P{Cc}\n]|[\p{Zl}\p{Zp}]|(?![\u200c\u200d])\p{Cf}/gu;

/** The same text without anything that could steer a terminal; its lines stay. */
export function harmless(text: string): string {
  return text.replace(STEERING, '?');
}

/** The same on one line: what breaks a line becomes a blank. */
export function oneLine(text: string): string {
  return harmless(text.replace(/[\t-\r\u0085\p{Zl}\p{Zp}]+/gu, ' '));
}

/** A line for people. What came from outside begins no other one. */
export function textLine(text: string): string {
  return `${oneLine(text)}\n`;
}

/** A line for programs. */
export function jsonLine(value: object): string {
  return `${escapeSteering(JSON.stringify(value))}\n`;
}

/** JSON that says the same, with escapes for what JSON leaves as it is and a terminal does not: DEL, C1, what has no width. */
export function escapeSteering(json: string): string {
  return json.replace(STEERING, (found) =>
    Array.from(
      { length: found.length },
      (_, at) => `\\u${found.charCodeAt(at).toString(16).padStart(4, '0')}`,
    ).join(''),
  );
}

/** A text of a person or another program, on one line. */
export const plainTextSchema = z.string().refine(isPlain, PLAIN);
