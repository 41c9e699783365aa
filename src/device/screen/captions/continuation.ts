import { segmentsOf, usesBlanks } from './words.ts';

/** Maximum work for one comparison (pairs of characters): half a millisecond. A longer text is compared by words alone. */
const MOST_PAIRS = 40_000;

export interface Continuation {
  /** What to append to the shown text. */
  readonly rest: string;
  /** The candidate contradicts what is shown. */
  readonly diverges: boolean;
}

/**
 * The text to append to a shown text so that both together say what the candidate says; the shown text never changes. If they
 * differ, the candidate continues after the words that resemble the shown ones most.
 */
export function continuationOf(shown: string, candidate: string, language: string): Continuation {
  if (candidate.startsWith(shown)) return { rest: candidate.slice(shown.length), diverges: false };
  if (shown.startsWith(candidate)) return { rest: '', diverges: false };
  const rest = candidate.slice(likelyEnd(shown, candidate, language));
  const joins = usesBlanks(language) && /[\p{L}\p{N}]$/u.test(shown) && /^[\p{L}\p{N}]/u.test(rest);
  return { rest: joins ? ` ${rest}` : rest, diverges: true };
}

/** Position in the candidate at which the shown text ends; always the end of a word. */
function likelyEnd(shown: string, candidate: string, language: string): number {
  const ends: number[] = [];
  for (const { text } of segmentsOf(candidate, language)) ends.push((ends.at(-1) ?? 0) + text.length);
  const same = commonLength(shown, candidate);
  const [a, b] = [shown.slice(same), candidate.slice(same)];
  if (a.length * b.length > MOST_PAIRS) {
    const count = segmentsOf(shown, language).length;
    return ends[count - 1] ?? candidate.length;
  }
  const distances = editDistances(a, b);
  let best = candidate.length;
  // Among equally likely positions, take the last, so that no word is shown twice.
  for (const end of ends.toReversed()) {
    if (end < same) break;
    if ((distances[end - same] ?? 0) < (distances[best - same] ?? 0)) best = end;
  }
  return best;
}

export function commonLength(one: string, other: string): number {
  const most = Math.min(one.length, other.length);
  let at = 0;
  while (at < most && one.charCodeAt(at) === other.charCodeAt(at)) at += 1;
  return at;
}

/** The edit distances from `a` to each prefix of `b`, by its length. */
function editDistances(a: string, b: string): number[] {
  let row = Array.from({ length: b.length + 1 }, (_, at) => at);
  for (let i = 0; i < a.length; i++) {
    const next = [i + 1];
    for (let j = 0; j < b.length; j++) {
      const replaced = (row[j] ?? 0) + (a.charCodeAt(i) === b.charCodeAt(j) ? 0 : 1);
      next.push(Math.min(replaced, (row[j + 1] ?? 0) + 1, (next[j] ?? 0) + 1));
    }
    row = next;
  }
  return row;
}
