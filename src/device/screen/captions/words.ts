import { primaryOf } from '../../lane/replay/language-tags.ts';

export interface Segment {
  readonly text: string;
  /** False: punctuation or blanks. */
  readonly isWord: boolean;
}

const segmenters = new Map<string, Intl.Segmenter>();

/** Maximum number of segmenters kept, one for each language: a device shows few languages. */
const MOST_KEPT = 32;

function segmenterOf(language: string): Intl.Segmenter {
  const known = segmenters.get(language);
  if (known !== undefined) return known;
  const [tag] = /^[a-z]{2,3}\b/i.exec(language) ?? ['en'];
  const made = new Intl.Segmenter(tag, { granularity: 'word' });
  if (segmenters.size < MOST_KEPT) segmenters.set(language, made);
  return made;
}

/** Cuts a text into words, punctuation and blanks; joined together, they are the whole text. */
export function segmentsOf(text: string, language: string): Segment[] {
  const segments: Segment[] = [];
  for (const { segment, isWordLike } of segmenterOf(language).segment(text))
    segments.push({ text: segment, isWord: isWordLike === true });
  return segments;
}

/** Languages written without blanks between words. */
const WITHOUT_BLANKS: readonly string[] = ['zh', 'yue', 'cmn', 'ja', 'th', 'lo', 'km', 'my'];

/** Whether the language separates words, and so sentences, by a blank. */
export function usesBlanks(language: string): boolean {
  return !WITHOUT_BLANKS.includes(primaryOf(language));
}
