/** A bill, as shown by `dragoman-backend bill --json`, its CSV and the console. */

export const BILL_KEYS = ['device', 'group', 'site'] as const;
export type BillKey = (typeof BILL_KEYS)[number];

export interface BillLine {
  readonly name: string;
  readonly sessions: number;
  /** Reported duration of the streams, limited to the maximum duration of each session. */
  readonly minutes: number;
  /** Sessions without a report yet: they still run, were never used, or their report was lost. */
  readonly unreported: number;
  /** Maximum duration of the unreported sessions; null if one has no limit. */
  readonly unreported_minutes_at_most: number | null;
  /** Number of reports with a duration beyond the session's maximum, or of an unknown session. */
  readonly implausible: number;
  readonly forecast_minutes: number;
  readonly budget_minutes: number | null;
  readonly warning: 'none' | 'near_budget' | 'over_budget';
}

/** Sums over all devices; each device counts once. */
export type BillTotal = Omit<BillLine, 'name' | 'budget_minutes' | 'warning'>;

const COLUMNS: Readonly<Record<keyof BillLine, true>> = {
  name: true,
  sessions: true,
  minutes: true,
  unreported: true,
  unreported_minutes_at_most: true,
  implausible: true,
  forecast_minutes: true,
  budget_minutes: true,
  warning: true,
};

/** All columns of a line, in the order of the CSV. */
export const BILL_COLUMNS = Object.keys(COLUMNS) as readonly (keyof BillLine)[];
