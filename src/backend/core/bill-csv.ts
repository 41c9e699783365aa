/** A bill as comma-separated values. */
import type { BillLine } from './bill.ts';

const COLUMNS = [
  'name',
  'sessions',
  'minutes',
  'unreported',
  'unreported_minutes_at_most',
  'implausible',
  'forecast_minutes',
  'budget_minutes',
  'warning',
] as const;

export function csvOf(lines: readonly BillLine[]): string {
  const rows = lines.map((line) => COLUMNS.map((column) => cell(line[column])).join(','));
  return `${[COLUMNS.join(','), ...rows].join('\n')}\n`;
}

/** A text that a spreadsheet would take for a formula begins with an apostrophe. */
function cell(value: string | number | null): string {
  if (typeof value !== 'string') return String(value ?? '');
  const safe = /^[=+\-@]/.test(value) ? `'${value}` : value;
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}
