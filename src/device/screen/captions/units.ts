import { segmentsOf } from './words.ts';

/** The smallest part of a line: a word with its punctuation and the blank after it. */
export interface Unit {
  readonly text: string;
  /** 1 if the unit counts as a word for the reading speed, otherwise 0. */
  readonly words: number;
  /** The unit belongs to the text before it, and stays on the same line. */
  readonly isGlued: boolean;
  /** The unit begins a new block. */
  readonly breaks: boolean;
}

const OPENING = /^[\p{Ps}\p{Pi}¿¡]+$/u;
/** Punctuation that may not begin a line, in any script, including the Japanese lengthening and repetition marks. */
const CLOSING = /^[\p{Pe}\p{Pf}\p{Po}\p{Pd}\p{Sc}%°・ー々〻]+$/u;
const BLANK = /^\s+$/u;

/** Cuts an appended text into units. A line may end after each unit. */
export function unitsOf(text: string, language: string, breaks: boolean): Unit[] {
  const units: Unit[] = [];
  let opening = '';
  for (const { text: piece, isWord } of segmentsOf(text, language)) {
    const last = units.at(-1);
    const follows = BLANK.test(piece) || (!isWord && CLOSING.test(piece) && !OPENING.test(piece));
    if (opening === '' && follows) {
      const glued = { text: piece, words: 0, isGlued: true, breaks: false };
      if (last === undefined) units.push(glued);
      else units[units.length - 1] = { ...last, text: last.text + piece };
    } else if (!isWord && OPENING.test(piece)) {
      opening += piece;
    } else {
      units.push({ text: opening + piece, words: isWord ? 1 : 0, isGlued: false, breaks: false });
      opening = '';
    }
  }
  if (opening !== '') units.push({ text: opening, words: 0, isGlued: false, breaks: false });
  const [first, ...rest] = units;
  return first === undefined ? [] : [breaks ? { ...first, breaks, isGlued: false } : first, ...rest];
}
