/** A bill as comma-separated values. */
import { BILL_COLUMNS, type BillLine } from '../../protocol/bill.ts';

export function csvOf(lines: readonly BillLine[]): string {
  const rows = lines.map((line) => BILL_COLUMNS.map((column) => cell(line[column])).join(','));
  return `${[BILL_COLUMNS.join(','), ...rows].join('\n')}\n`;
}

/** A text that a spreadsheet would read as a formula gets an apostrophe in front. */
function cell(value: string | number | null): string {
  if (typeof value !== 'string') return String(value ?? '');
  const safe = /^[=+\-@]/.test(value) ? `'${value}` : value;
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}
