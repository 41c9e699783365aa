import { oneLine } from '../protocol/common/plain-text.ts';

/** Width of all printed text (columns): that of the narrowest supported terminal. */
export const COLUMNS = 80;

/** Wraps a text at words to the width of a terminal. Newlines in the text become blanks; the result ends with a newline. */
export function wrapText(text: string, indent: string, firstWidth = COLUMNS): string {
  const lines: string[] = [];
  let line = '';
  for (const word of oneLine(text).split(' ')) {
    const isFirst = line === '' || line === indent;
    if (!isFirst && line.length + 1 + word.length > (lines.length === 0 ? firstWidth : COLUMNS)) {
      lines.push(line);
      line = indent + word;
    } else {
      line += line === '' || line === indent ? word : ` ${word}`;
    }
  }
  return `${[...lines, line].join('\n')}\n`;
}

/** Wraps a text with leading blanks: they stay, and further lines are indented by two more. */
export function wrapIndented(text: string): string {
  const lead = /^ */.exec(text)?.[0] ?? '';
  const placed = wrapText(text.trimStart(), `${lead}  `, COLUMNS - lead.length);
  return lead + placed;
}

/**
 * Lays out three columns within the width of a terminal. After a cell that is too wide, the row continues on the next line.
 * A cell wider than the terminal is split.
 */
export function layOutTable(rows: readonly (readonly string[])[]): string {
  const widest = (column: number, limit: number): number =>
    Math.min(limit, Math.max(0, ...rows.map((row) => row[column]?.length ?? 0)));
  const first = widest(0, 28);
  const second = widest(1, COLUMNS - first - 4 - widest(2, 24));
  return rows.map((row) => layOutRow(row, [first, first + 2 + second])).join('');
}

function layOutRow(
  [key = '', value = '', source = '']: readonly string[],
  ends: readonly [number, number],
): string {
  const [keyEnd, valueEnd] = ends;
  const indent = ' '.repeat(keyEnd + 2);
  const room = COLUMNS - indent.length;
  const pieces = value.match(new RegExp(`.{1,${room}}`, 'gsu')) ?? [''];
  const lines = key.length > keyEnd ? [key] : [];
  for (const [index, piece] of pieces.entries()) {
    lines.push((index === 0 && lines.length === 0 ? key.padEnd(keyEnd + 2) : indent) + piece);
  }
  const last = lines.at(-1) ?? '';
  const joined = `${last.padEnd(valueEnd)}  ${source}`;
  if (joined.length <= COLUMNS) lines[lines.length - 1] = joined;
  else lines.push(source.padStart(Math.min(COLUMNS, Math.max(source.length, COLUMNS))));
  return `${lines.join('\n')}\n`;
}
