/** Sanitizes text that devices send. A hostile device may send markup, characters that reorder or hide text, and very long texts. */
import { redactText } from '../../adapters/redaction.ts';
import { harmless, oneLine } from '../../protocol/common/plain-text.ts';

const SHORT = 200;
const SENTENCE = 600;
const ENTRIES = 40;

/** Cache: most texts of a fleet are the same few languages, phases and versions. */
const known = new Map<string, string>();
const LONGEST_KNOWN = 40;
const MOST_KNOWN = 5000;

/** One line of text, shortened. */
export function clean(text: string, most = SHORT): string {
  if (text.length > LONGEST_KNOWN || text.length > most) return cleanAnew(text, most);
  const before = known.get(text);
  if (before !== undefined) return before;
  if (known.size >= MOST_KNOWN) known.clear();
  const cleaned = cleanAnew(text, most);
  known.set(text, cleaned);
  return cleaned;
}

function cleanAnew(text: string, most: number): string {
  const cut = text.length > most ? `${text.slice(0, most)}...` : text;
  return redactText(oneLine(cut), text.length > most);
}

export const cleanSentence = (text: string): string => clean(text, SENTENCE);
export const cleanOrNull = (text: string | null | undefined): string | null =>
  text === null || text === undefined ? null : clean(text);
export const cleanList = (list: readonly string[]): string[] =>
  list.slice(0, ENTRIES).map((text) => clean(text));

/** A timestamp; null for any other text that a device may send there. */
export function cleanTime(text: string | null | undefined): string | null {
  if (
    typeof text !== 'string' ||
    text.length > 40 ||
    !/^\d{4}-\d\d-\d\dT[\d:.]+(Z|[+-]\d\d:\d\d)$/.test(text)
  )
    return null;
  return text;
}

/** A JSON value with clean texts, cut after `most` values. */
export function cleanValue(value: unknown, most = 2000): unknown {
  let left = most;
  const walk = (part: unknown): unknown => {
    left -= 1;
    if (left < 0) return null;
    if (typeof part === 'string') return redactText(harmless(part.slice(0, SENTENCE)));
    if (Array.isArray(part)) return part.slice(0, left + 1).map(walk);
    if (typeof part !== 'object' || part === null) return part;
    return Object.fromEntries(
      Object.entries(part)
        .slice(0, left + 1)
        .map(([key, inner]) => [clean(key), walk(inner)]),
    );
  };
  return walk(value);
}
