import { type Unit, unitsOf } from './units.ts';

/**
 * Captions as lines that hold still: a word never moves within its line or to another line. Each sentence is a block of lines of its
 * own. Lines that have left the panel are kept, so that a reader can look back. A line leaves the panel only when it can have been
 * read, at 140 words a minute, up to 180 if text is waiting.
 */

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
/** Maximum number of lines that are kept: ten minutes of a conversation. */
const MOST_LINES = 200;

export interface Line {
  /** Number of the line, from 0. */
  readonly id: number;
  /** Number of its block. */
  readonly block: number;
  readonly text: string;
  /** Said in this language by a person; false: translated into it. */
  readonly isSpoken: boolean;
  readonly firstAt: number;
  /** When a reader will have read the line (monotonic ms). */
  readonly readAt: number;
}

export interface Lines {
  readonly language: string;
  /** Oldest first; the panel shows the last ones. */
  readonly lines: readonly Line[];
  readonly waiting: readonly WaitingUnit[];
  /** When a reader will have read everything that is shown. */
  readonly readAt: number;
  /** When the lines last moved up. */
  readonly movedAt: number;
  readonly nextId: number;
}

interface WaitingUnit extends Unit {
  readonly isSpoken: boolean;
}

const NEVER = Number.NEGATIVE_INFINITY;

export function noLines(language: string): Lines {
  return { language, lines: [], waiting: [], readAt: NEVER, movedAt: NEVER, nextId: 0 };
}

/** The room of the panel. `measure` returns the width of a text, in the same unit as `width`. */
export interface Room {
  readonly width: number;
  /** Height in lines. */
  readonly rows: number;
  /** Space between two blocks, in lines. */
  readonly gap: number;
  measure(text: string): number;
}

/** A text to append. `breaks`: it begins a block. */
export interface AppendedText {
  readonly text: string;
  readonly breaks: boolean;
  readonly isSpoken: boolean;
}

export function appendText(lines: Lines, { text, breaks, isSpoken }: AppendedText): Lines {
  const units = unitsOf(text, lines.language, breaks).map((unit) => ({ ...unit, isSpoken }));
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
    const block = (line?.block ?? -1) + (unit.breaks || line === undefined ? 1 : 0);
    const next: Line = {
      id: nextId,
      block,
      text: '',
      isSpoken: unit.isSpoken,
      firstAt: now,
      readAt: Math.max(readAt, now),
    };
    const longer = [...lines, next];
    const leaving = lines.slice(firstVisible(lines, room), firstVisible(longer, room));
    const leavesAt = Math.max(...leaving.map((one) => Math.max(one.readAt, one.firstAt + LEAST_STAY_MS)));
    if (leaving.length > 0 && words <= MOST_WAITING_WORDS && now < Math.max(leavesAt, movedAt + STEP_MS)) {
      waiting.reverse();
      return result(Math.max(leavesAt, movedAt + STEP_MS));
    }
    if (!fitsInto(unit.text, room)) {
      waiting.pop();
      waiting.push(...cutToFit(unit, room).toReversed());
    }
    const begins = { ...(waiting.at(-1) ?? unit), breaks: false };
    waiting[waiting.length - 1] = begins;
    if (leaving.length > 0) movedAt = now;
    lines = longer.slice(-MOST_LINES);
    nextId += 1;
  }
}

/** Index of the first line that the panel shows: the last one is always visible. */
export function firstVisible(lines: readonly Line[], { rows, gap }: Pick<Room, 'rows' | 'gap'>): number {
  let height = 0;
  for (let at = lines.length - 1; at >= 0; at -= 1) {
    const below = lines[at + 1];
    height += 1 + (below !== undefined && below.block !== lines[at]?.block ? gap : 0);
    if (height > rows) return Math.min(at + 1, lines.length - 1);
  }
  return 0;
}

/** Lays the kept text out again, for another room: only then do words move. */
export function layOutAgain(given: Lines, room: Room): Lines {
  const kept = given.lines.flatMap(({ text, block, isSpoken }, at) => {
    const breaks = at === 0 || given.lines[at - 1]?.block !== block;
    return unitsOf(text, given.language, breaks).map((unit) => ({ ...unit, isSpoken }));
  });
  return { ...layOutRead({ ...given, lines: [], waiting: kept }, room), waiting: given.waiting };
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
function cutToFit(unit: WaitingUnit, room: Room): WaitingUnit[] {
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
