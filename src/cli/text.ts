import { oneLine } from '../protocol/plain-text.ts';

/** The narrowest terminal that everything printed fits. */
export const COLUMNS = 80;

/** Breaks a text between words so that no line is longer than a terminal is wide. Ends with a newline; those of the text are blanks. */
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

/** The same for a text that begins with blanks: they stay, and what is wrapped stands two further in. */
export function wrapIndented(text: string): string {
  const lead = /^ */.exec(text)?.[0] ?? '';
  const placed = wrapText(text.trimStart(), `${lead}  `, COLUMNS - lead.length);
  return lead + placed;
}

/**
 * Three columns of text within a terminal's width. A cell that is too wide moves what follows it to the next line;
 * one that is wider than the terminal is broken.
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
