import { isJamo, withJamo, withoutJamo } from './hangul.ts';

/** The text before the cursor, after a key: letters and marks become one where the script writes them as one. */
export function withKey(before: string, key: string): string {
  return isJamo(key) ? withJamo(before, key) : (before + key).normalize('NFC');
}

/** The text before the cursor, after the delete key. */
export function withoutLast(before: string): string {
  const opened = withoutJamo(before);
  if (opened !== null) return opened;
  // A vowel or tone that has a key of its own is taken back alone; an accent goes with its letter.
  if (/(?!\p{Script=Inherited})\p{M}$/u.test(before)) return before.slice(0, -1);
  const letters = Array.from(new Intl.Segmenter().segment(before), ({ segment }) => segment);
  return letters.slice(0, -1).join('');
}

/** Whether the next letter begins a sentence, which a language with capitals begins with one. */
export const beginsSentence = (before: string): boolean => /(^|[.?!…]\s+)[\s¿¡"'«„“(]*$/.test(before);
