import { stripVTControlCharacters } from 'node:util';
import stringWidth from 'string-width';
import { oneLine } from '../../protocol/common/plain-text.ts';

/** Text on a terminal, measured in columns: a Japanese character takes two, a combining accent none. */

const segmenter = new Intl.Segmenter(undefined, { granularity: 'grapheme' });

/** Control characters and line separators: they move the cursor or do worse. */
const BREAKS = /[\p{Cc}\p{Zl}\p{Zp}]/gu;
/** Invisible characters that reorder or hide text. Joiners of letters and emoji (U+200C, U+200D) are allowed. */
const HIDDEN = /(?![\u200c\u200d])\p{Cf}/gu;
const HALVES = /\p{Surrogate}/gu;

/**
 * Sanitises a text from outside for a terminal: one line, without escape sequences, control characters or changes of the
 * text direction.
 */
export function neutralise(text: string): string {
  return stripVTControlCharacters(text)
    .replace(BREAKS, ' ')
    .replace(HIDDEN, '')
    .replace(HALVES, '\ufffd')
    .replace(/\s+/gu, ' ')
    .trim();
}

/** Maximum number of cached widths: measuring is slow, and a picture shows the same texts repeatedly. */
const MOST_REMEMBERED = 5000;
const LONGEST_REMEMBERED = 250;
const widths = new Map<string, number>();

/** Width of a text in columns; escape sequences of colours have none. */
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
 * A row of a live picture. Only `plainRow` and `paint` create one: they remove terminal control characters from the text
 * before the program adds its own, such as colours.
 */
export type ScreenRow = string & { readonly [IS_ROW]: true };

/** A row without colours. */
export function plainRow(text: string): ScreenRow {
  return oneLine(text) as ScreenRow;
}

/** Pads with spaces on the right; never truncates. */
export function padTo(text: string, width: number): string {
  return text + ' '.repeat(Math.max(0, width - displayWidth(text)));
}

/** Truncates to `width` columns, including `mark` at the end of a truncated text. */
export function truncate(text: string, width: number, mark: string): string {
  if (displayWidth(text) <= width) return text;
  if (displayWidth(mark) > width) return '';
  return takeColumns(text, width - displayWidth(mark)).trimEnd() + mark;
}

/** The longest prefix of whole characters that fits. */
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

/** Characters that must not start a line: closing marks, and Japanese signs that belong to the previous character. */
const CLOSING = /^[\p{Pe}\p{Pf}\p{Po}ー々ぁぃぅぇぉっゃゅょゎァィゥェォッャュョヮ]/u;
/** Characters that must not end a line: opening marks. */
const OPENING = /[\p{Ps}\p{Pi}]$/u;

/** A run of characters without a line break, and whether a space precedes it. */
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
      // Scripts with wide characters use no spaces: a line may break between any two of them.
      const isWide = displayWidth(segment) === 2 || displayWidth(last) === 2;
      if (run !== '' && isWide && !CLOSING.test(segment) && !OPENING.test(last)) flush();
      run += segment;
    }
    last = segment;
  }
  flush();
  return words;
}

/** Wraps a text to lines of at most `width` columns, between words if possible. */
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
      // A character wider than the line (no terminal is that narrow) is left out.
      if (piece === '') break;
      lines.push(piece);
      line = line.slice(piece.length);
    }
  }
  return line === '' ? lines : [...lines, line];
}

/** Like `wrapColumns`, but with at most `most` lines. It truncates the end, or with `keep: 'end'` the beginning. */
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

/** Removes a prefix of at least `columns` columns. */
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
