import { styleText } from 'node:util';
import { oneLine } from '../../protocol/common/plain-text.ts';
import { displayWidth, type ScreenRow, truncate } from './display-text.ts';

/** Width of the labels on the left (columns). */
export const LABEL_WIDTH = 13;

/** Capabilities of a terminal. */
export interface Capabilities {
  readonly colour: boolean;
  /** Non-ASCII signs; without them the picture uses ASCII. Captions are not changed. */
  readonly unicode: boolean;
}

/** Colours and weights, named as in `util.styleText`. */
export type Style = Parameters<typeof styleText>[0];

/** A piece of text in one style. */
export interface Span {
  readonly text: string;
  readonly style?: Style;
}

/** One row of the picture before styles are applied, so that it can be measured and truncated. */
export type Row = readonly Span[];

/** The signs of the picture. */
export interface Signs {
  readonly done: string;
  readonly here: string;
  readonly ahead: string;
  readonly rule: string;
  readonly more: string;
  readonly to: string;
  readonly none: string;
  /** Lower than a full block, so that two meters do not touch each other. */
  readonly fill: string;
  readonly peak: string;
  readonly track: string;
}

const UNICODE: Signs = {
  done: '✓',
  here: '●',
  ahead: '○',
  rule: '─',
  more: '…',
  to: '→',
  none: '–',
  fill: '▆',
  peak: '│',
  track: '·',
};

const ASCII: Signs = {
  done: '+',
  here: '*',
  ahead: '-',
  rule: '-',
  more: '...',
  to: '>',
  none: '-',
  fill: '#',
  peak: '|',
  track: '.',
};

export function signsFor({ unicode }: Capabilities): Signs {
  return unicode ? UNICODE : ASCII;
}

export function rowWidth(row: Row): number {
  return row.reduce((width, { text }) => width + displayWidth(text), 0);
}

/** Puts `right` at the end of a row of `width` columns; leaves it out if there is not enough room. */
export function justify(left: Row, right: Row, width: number): Row {
  const gap = width - rowWidth(left) - rowWidth(right);
  return gap < 1 ? left : [...left, { text: ' '.repeat(gap) }, ...right];
}

/** A heading with a rule up to the end of the row. */
export function renderRule(title: string, width: number, { rule }: Signs): Row {
  const lead = `${rule.repeat(2)} ${title} `;
  return [{ text: lead + rule.repeat(Math.max(0, width - lead.length)), style: 'dim' }];
}

/** Renders a row to at most `width` columns, without trailing blanks. */
export function paint(row: Row, width: number, capabilities: Capabilities): ScreenRow {
  const texts = row.map((span) => ({ ...span, text: oneLine(span.text) }));
  const spans = cut(joinAlike(texts), width, signsFor(capabilities).more);
  while (spans.at(-1)?.text.trim() === '') spans.pop();
  const last = spans.pop();
  if (last !== undefined) spans.push({ ...last, text: last.text.trimEnd() });
  return spans
    .map(({ text, style }) =>
      style === undefined || !capabilities.colour ? text : styleText(style, text, { validateStream: false }),
    )
    .join('') as ScreenRow;
}

function cut(row: Row, width: number, mark: string): Span[] {
  const spans: Span[] = [];
  let room = width;
  for (const span of row) {
    const text = truncate(span.text, room, mark);
    if (text !== '') spans.push({ ...span, text });
    room -= displayWidth(text);
    if (text !== span.text) break;
  }
  return spans;
}

/** Joins adjacent spans of the same style: a meter has many cells in few colours. */
function joinAlike(row: Row): Span[] {
  const spans: Span[] = [];
  for (const span of row) {
    const last = spans.at(-1);
    if (last !== undefined && last.style === span.style) {
      spans[spans.length - 1] = { ...last, text: last.text + span.text };
    } else spans.push(span);
  }
  return spans;
}
