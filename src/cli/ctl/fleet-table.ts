import type { RosterRow } from '../../fleet/roster.ts';
import { oneLine } from '../../protocol/common/plain-text.ts';
import { displayWidth } from '../demo/display-text.ts';

const HEAD = {
  device: 'DEVICE',
  status: 'STATUS',
  lanes: 'LANES',
  reasons: 'REASONS',
  version: 'VERSION',
} as const;
type Column = keyof typeof HEAD;
/** Columns from left to right. A narrow terminal shortens the last ones. */
const ORDER: readonly Column[] = ['device', 'status', 'reasons', 'lanes', 'version'];
const WIDEST: Readonly<Record<Column, number>> = {
  device: 24,
  status: 8,
  reasons: 40,
  lanes: 60,
  version: 12,
};
const NARROWEST: Readonly<Record<Column, number>> = {
  device: 8,
  status: 8,
  reasons: 16,
  lanes: 20,
  version: 8,
};

/** Formats devices as lines that fit the terminal, with a header. @param columns width of the terminal */
export function layOutRoster(rows: readonly RosterRow[], columns: number): string[] {
  const cells = rows.map((row) => cellsOf(row));
  const widths = widthsOf(cells, columns);
  const line = (cell: (column: Column) => string): string =>
    [...widths]
      .map(([column, width]) => fill(cell(column), width))
      .join('  ')
      .trimEnd();
  return [line((column) => HEAD[column]), ...cells.map((row) => line((column) => row[column]))];
}

/** Sanitises cells before they are measured, so that the measured text is the printed one. */
function cellsOf(row: RosterRow): Record<Column, string> {
  return {
    device: oneLine(row.device),
    status: oneLine(row.status),
    reasons: oneLine(row.reasons),
    lanes: oneLine(row.lanes),
    version: oneLine(row.version),
  };
}

/** Column widths: as needed; smaller if the terminal is narrow, and without "version" if it is too narrow. */
function widthsOf(cells: readonly Record<Column, string>[], columns: number): Map<Column, number> {
  const wanted = (column: Column): number =>
    Math.min(WIDEST[column], Math.max(NARROWEST[column], ...cells.map((row) => displayWidth(row[column]))));
  const widths = new Map(ORDER.map((column) => [column, wanted(column)] as const));
  const total = (): number => [...widths.values()].reduce((sum, width) => sum + width, 2 * (widths.size - 1));
  for (const column of ['version', 'lanes', 'reasons', 'device'] as const) {
    const width = widths.get(column) ?? 0;
    const excess = total() - columns;
    if (excess <= 0) break;
    const least = Math.min(width, NARROWEST[column]);
    if (width - excess >= least) widths.set(column, width - excess);
    else if (column === 'version') widths.delete(column);
    else widths.set(column, least);
  }
  return widths;
}

/** Truncates a wide text with a mark, and pads a narrow one. */
function fill(text: string, width: number): string {
  const own = displayWidth(text);
  if (own <= width) return text + ' '.repeat(width - own);
  let cut = '';
  for (const letter of text) {
    if (displayWidth(cut + letter) > width - 1) break;
    cut += letter;
  }
  return `${cut}~${' '.repeat(Math.max(0, width - 1 - displayWidth(cut)))}`;
}
