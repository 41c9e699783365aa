import { stripVTControlCharacters } from 'node:util';
import stringWidth from 'string-width';
import { oneLine } from '../../protocol/plain-text.ts';

/** Text as a terminal shows it: measured in columns, where a Japanese character takes two and an accent none. */

const segmenter = new Intl.Segmenter(undefined, { granularity: 'grapheme' });

/** Controls and separators would move the cursor or worse. */
const BREAKS = /[\p{Cc}\p{Zl}\p{Zp}]/gu;
/** Invisible characters that reorder or hide what follows; those that join letters and emoji stay. */
const HIDDEN = /(?![\u200c\u200d])\p{Cf}/gu;
const HALVES = /\p{Surrogate}/gu;

/**
 * Makes a text from outside harmless on a terminal: one line, no escape sequences, no control
 * characters, nothing that turns the direction of what stands after it.
 */
export function neutralise(text: string): string {
  return stripVTControlCharacters(text)
    .replace(BREAKS, ' ')
    .replace(HIDDEN, '')
    .replace(HALVES, '\ufffd')
    .replace(/\s+/gu, ' ')
    .trim();
}

/** Measuring takes its time, and a picture shows the same texts over and over. */
const MOST_REMEMBERED = 5000;
const LONGEST_REMEMBERED = 250;
const widths = new Map<string, number>();

/** Columns that a text takes; the escape sequences of colours take none. */
export function displayWidth(text: string): number {
  if (text.length > LONGEST_REMEMBERED) return stringWidth(text);
  const known = widths.get(text);
  if (known !== undefined) return known;
  if (widths.size >= MOST_REMEMBERED) widths.clear();
  const width = stringWidth(text);
  widths.set(text, width);
  return width;
}

declare const IS_ROW: unique symbol;

/**
 * A row of a live picture. Made by `plainRow` and `paint` alone: what a program puts in itself, such as colours, comes after
 * everything in the text that could steer the terminal has gone.
 */
export type ScreenRow = string & { readonly [IS_ROW]: true };

/** A row without colours. */
export function plainRow(text: string): ScreenRow {
  return oneLine(text) as ScreenRow;
}

/** Fills up with spaces on the right, never cuts. */
export function padTo(text: string, width: number): string {
  return text + ' '.repeat(Math.max(0, width - displayWidth(text)));
}

/** At most `width` columns; where something had to go, `mark` stands at the end (counted in). */
export function truncate(text: string, width: number, mark: string): string {
  if (displayWidth(text) <= width) return text;
  if (displayWidth(mark) > width) return '';
  return takeColumns(text, width - displayWidth(mark)).trimEnd() + mark;
}

/** As many whole characters from the front as fit. */
function takeColumns(text: string, width: number): string {
  let taken = '';
  let used = 0;
  for (const { segment } of segmenter.segment(text)) {
    used += displayWidth(segment);
    if (used > width) break;
    taken += segment;
  }
  return taken;
}

/** Where a line may not begin: closing marks, and the Japanese signs that belong to the one before. */
const CLOSING = /^[\p{Pe}\p{Pf}\p{Po}ー々ぁぃぅぇぉっゃゅょゎァィゥェォッャュョヮ]/u;
/** Where a line may not end. */
const OPENING = /[\p{Ps}\p{Pi}]$/u;

/** A run of characters that stays together, and whether a space stands before it. */
interface Word {
  readonly text: string;
  readonly spaced: boolean;
}

function splitWords(text: string): readonly Word[] {
  const words: Word[] = [];
  let run = '';
  let spaced = false;
  let last = '';
  const flush = (): void => {
    if (run !== '') words.push({ text: run, spaced });
    run = '';
    spaced = false;
  };
  for (const { segment } of segmenter.segment(text)) {
    if (segment === ' ') {
      flush();
      spaced = true;
    } else {
      // Scripts of wide characters set no spaces: a line may break at each of them.
      const isWide = displayWidth(segment) === 2 || displayWidth(last) === 2;
      if (run !== '' && isWide && !CLOSING.test(segment) && !OPENING.test(last)) flush();
      run += segment;
    }
    last = segment;
  }
  flush();
  return words;
}

/** Breaks a text into lines of at most `width` columns, between words where that can be. */
export function wrapColumns(text: string, width: number): string[] {
  if (width < 2) return [];
  const lines: string[] = [];
  let line = '';
  for (const word of splitWords(text)) {
    const joined = line === '' ? word.text : line + (word.spaced ? ' ' : '') + word.text;
    if (displayWidth(joined) <= width) {
      line = joined;
      continue;
    }
    if (line !== '') lines.push(line);
    line = word.text;
    while (displayWidth(line) > width) {
      const piece = takeColumns(line, width);
      // One character wider than the line (no terminal is that narrow): rather nothing than too much.
      if (piece === '') break;
      lines.push(piece);
      line = line.slice(piece.length);
    }
  }
  return line === '' ? lines : [...lines, line];
}

/** As `wrapColumns`, but at most `most` lines: what is too much goes at the end, or with `keep: 'end'` at the beginning. */
export function wrapWithin(
  text: string,
  width: number,
  most: number,
  { keep, mark }: { readonly keep: 'start' | 'end'; readonly mark: string },
): string[] {
  const lines = wrapColumns(text, width);
  if (lines.length <= most) return lines;
  if (keep === 'start') {
    const kept = lines.slice(0, most);
    const last = kept.pop() ?? '';
    const room = width - displayWidth(mark);
    return [...kept, (displayWidth(last) <= room ? last : takeColumns(last, room).trimEnd()) + mark];
  }
  const kept = lines.slice(-most);
  const first = kept.shift() ?? '';
  return [mark + dropColumns(first, displayWidth(first) + displayWidth(mark) - width), ...kept];
}

/** The text without its first characters, of at least `columns` columns together. */
function dropColumns(text: string, columns: number): string {
  let dropped = 0;
  let rest = text;
  for (const { segment } of segmenter.segment(text)) {
    if (dropped >= columns) break;
    dropped += displayWidth(segment);
    rest = rest.slice(segment.length);
  }
  return rest.trimStart();
}
