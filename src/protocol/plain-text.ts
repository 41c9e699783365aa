import { z } from 'zod';

/** Control characters cut a text short (NUL in a file's name) or break a line (in a log, a header, a topic). */
const CONTROL = /\p{Cc}/u;
export const PLAIN = 'must not hold control characters such as NUL or a line break';

export function isPlain(text: string): boolean {
  return !CONTROL.test(text);
}

/** The same text without anything that could steer a terminal; its lines stay. */
export function harmless(text: string): string {
  return text.replace(/[^\P{Cc}\n]|\p{Cf}/gu, '?');
}

/** The same text on one line. */
export function oneLine(text: string): string {
  return text.replace(/[\p{Cc}\p{Zl}\p{Zp}]+/gu, ' ');
}

/** A text of a person or another program, on one line. */
export const plainTextSchema = z.string().refine(isPlain, PLAIN);
