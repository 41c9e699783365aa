import { type Unit, unitsOf } from './units.ts';

/**
 * Captions as lines that hold still: a word never moves within its line or to another line. Once the lower line is full and the
 * upper line has been read, both move up by one. The assumed reading speed is 140 words a minute, up to 180 if text is waiting.
 */

/** Visible lines, as subtitles have. */
export const ROWS = 2;
const WORDS_A_MINUTE = { calm: 140, pressed: 180 } as const;
/** Number of waiting words at which the faster pace is reached: about two typical lines. */
const PRESSED_FROM_WORDS = 14;
/** Minimum time for which a line stays visible (ms). */
const LEAST_STAY_MS = 1500;
/** Minimum time between two steps (ms): a reader loses track of lines that move in quick succession. */
const STEP_MS = 500;
/** Longest line (UTF-16 units) that is measured. */
const LONGEST_LINE = 400;
/** Maximum number of waiting words: about six minutes of text. It limits memory use: beyond it, lines move up unread. */
const MOST_WAITING_WORDS = 1000;

export interface Line {
  /** Number of the line, from 0. */
  readonly id: number;
  readonly text: string;
  /** The line begins with another speaker's words. */
  readonly breaks: boolean;
  readonly firstAt: number;
  /** When a reader will have read the line (monotonic ms). */
  readonly readAt: number;
}

export interface Lines {
  readonly language: string;
  readonly lines: readonly Line[];
  readonly waiting: readonly Unit[];
  /** When a reader will have read everything that is shown. */
  readonly readAt: number;
  /** When the lines last moved up. */
  readonly movedAt: number;
  readonly nextId: number;
}

const NEVER = Number.NEGATIVE_INFINITY;

export function noLines(language: string): Lines {
  return { language, lines: [], waiting: [], readAt: NEVER, movedAt: NEVER, nextId: 0 };
}

/** The room for a line, and the width of a text in the same unit. */
export interface Room {
  readonly width: number;
  measure(text: string): number;
}

export function appendText(lines: Lines, text: string, breaks: boolean): Lines {
  const units = unitsOf(text, lines.language, breaks);
  const [first, ...rest] = units;
  const last = lines.waiting.at(-1);
  // Punctuation joins its word if the word is not shown yet.
  if (first?.isGlued && last !== undefined) {
    const joined = { ...last, text: last.text + first.text };
    return { ...lines, waiting: [...lines.waiting.slice(0, -1), joined, ...rest] };
  }
  return { ...lines, waiting: [...lines.waiting, ...units] };
}

/** Shows the text that fits; `wakeAt`: when more will fit; null: after the next text. */
export function advanceLines(given: Lines, room: Room, now: number): { lines: Lines; wakeAt: number | null } {
  let { lines, readAt, movedAt, nextId } = given;
  const waiting = [...given.waiting];
  let words = waiting.reduce((sum, unit) => sum + unit.words, 0);
  const result = (wakeAt: number | null) => ({
    lines: { ...given, lines, waiting, readAt, movedAt, nextId },
    wakeAt,
  });
  // Units are taken from the front; the list is reversed, because removing from its end is quick.
  waiting.reverse();
  while (true) {
    const unit = waiting.at(-1);
    if (unit === undefined) return result(null);
    const msPerWord = 60_000 / paceFor(words);
    const line = lines.at(-1);
    const fits =
      line !== undefined && (unit.isGlued || line.text === '' || fitsInto(line.text + unit.text, room));
    if (line !== undefined && !unit.breaks && fits) {
      readAt = Math.max(readAt, now) + unit.words * msPerWord;
      const longer = { ...line, text: line.text + unit.text, readAt };
      lines = lines.with(-1, longer);
      words -= unit.words;
      waiting.pop();
      continue;
    }
    const [top] = lines;
    if (lines.length >= ROWS && top !== undefined && words <= MOST_WAITING_WORDS) {
      const leavesAt = Math.max(top.readAt, top.firstAt + LEAST_STAY_MS, movedAt + STEP_MS);
      if (now < leavesAt) {
        waiting.reverse();
        return result(leavesAt);
      }
    }
    if (!fitsInto(unit.text, room)) {
      waiting.pop();
      waiting.push(...cutToFit(unit, room).toReversed());
    }
    const begins = { ...(waiting.at(-1) ?? unit), breaks: false };
    waiting[waiting.length - 1] = begins;
    if (lines.length >= ROWS) movedAt = now;
    lines = [
      ...lines.slice(lines.length >= ROWS ? 1 : 0),
      { id: nextId, text: '', breaks: unit.breaks, firstAt: now, readAt: Math.max(readAt, now) },
    ];
    nextId += 1;
  }
}

/** Lays the visible text out again, for another width: only then do words move. */
export function layOutAgain(given: Lines): Lines {
  const shown = given.lines.flatMap(({ text, breaks }) => unitsOf(text, given.language, breaks));
  return { ...given, lines: [], waiting: [...shown, ...given.waiting], readAt: NEVER };
}

/** Lays out all text at once, as if it had been read: a page that has just loaded shows the last lines. */
export function layOutRead(given: Lines, room: Room): Lines {
  let { lines, wakeAt } = advanceLines(given, room, 0);
  while (wakeAt !== null) ({ lines, wakeAt } = advanceLines(lines, room, wakeAt));
  const read = lines.lines.map((line) => ({ ...line, firstAt: NEVER, readAt: NEVER }));
  return { ...lines, lines: read, readAt: NEVER, movedAt: NEVER };
}

function paceFor(waitingWords: number): number {
  const { calm, pressed } = WORDS_A_MINUTE;
  if (waitingWords > MOST_WAITING_WORDS) return Number.POSITIVE_INFINITY;
  return calm + (pressed - calm) * Math.min(1, Math.max(0, waitingWords) / PRESSED_FROM_WORDS);
}

function fitsInto(text: string, { width, measure }: Room): boolean {
  return text.length <= LONGEST_LINE && measure(text.trimEnd()) <= width;
}

const graphemes = new Intl.Segmenter('en', { granularity: 'grapheme' });

/** Cuts a unit that is wider than a line; the first part fits. */
function cutToFit(unit: Unit, room: Room): Unit[] {
  const letters = Array.from(graphemes.segment(unit.text.slice(0, LONGEST_LINE)), ({ segment }) => segment);
  let most = Math.max(1, letters.length - 1);
  let least = 1;
  while (least < most) {
    const middle = Math.ceil((least + most) / 2);
    if (fitsInto(letters.slice(0, middle).join(''), room)) least = middle;
    else most = middle - 1;
  }
  const text = letters.slice(0, least).join('');
  const rest = unit.text.slice(text.length);
  if (rest === '') return [unit];
  // For the reading speed, only the first part of a split word counts as a word.
  return [
    { ...unit, text },
    { ...unit, text: rest, words: 0, isGlued: false, breaks: false },
  ];
}
