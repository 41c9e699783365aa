/**
 * A bill, as shown by `dragoman-backend bill`, its JSON and CSV, the console, and the table of columns in docs/backend.md.
 * They all read the tables here; `src/backend/bill/bill.ts` calculates the values.
 */

export const BILL_KEYS = ['device', 'group', 'site'] as const;
export type BillKey = (typeof BILL_KEYS)[number];

export interface BillLine {
  readonly name: string;
  readonly sessions: number;
  readonly minutes: number;
  readonly unreported: number;
  readonly unreported_minutes_at_most: number | null;
  readonly implausible: number;
  readonly forecast_minutes: number;
  readonly budget_minutes: number | null;
  readonly warning: 'none' | 'near_budget' | 'over_budget';
}

/** Sums over all devices; each device counts once. */
export type BillTotal = Omit<BillLine, 'name' | 'budget_minutes' | 'warning'>;

interface BillColumn {
  /** The text of docs/backend.md. */
  readonly means: string;
  /** What the one-line text bill adds about this column after minutes and sessions; null: nothing. */
  readonly remark?: (line: BillLine) => string | null;
}

/** All columns, in the order of the CSV. */
export const BILL: Readonly<Record<keyof BillLine, BillColumn>> = {
  name: { means: 'the device, group or site' },
  sessions: { means: 'sessions that were granted in this month' },
  minutes: { means: 'reported duration of the streams, for each session at most its maximum duration' },
  unreported: {
    means: 'sessions without a report: they still run, were never used, or their report was lost',
    remark: ({ unreported, unreported_minutes_at_most: most }) =>
      unreported === 0 ? null : `${unreported} without a report (at most ${most ?? 'unlimited'} min)`,
  },
  unreported_minutes_at_most: {
    means: 'maximum duration of the unreported sessions; empty if one of them has no limit',
  },
  implausible: {
    means:
      'reports of more time than the session could last (the excess does not count), or reports that were not kept, as above. Your own kiosks have none: if one does, change its password',
    remark: ({ implausible }) => (implausible === 0 ? null : `${implausible} implausible reports`),
  },
  forecast_minutes: { means: "forecast of the minutes for the month's end" },
  budget_minutes: { means: "the group's `minutesPerMonth`; empty without one, and for devices and sites" },
  warning: {
    means: "`near_budget` from 80 % of the group's `minutesPerMonth` on, then `over_budget`",
  },
};
export const BILL_COLUMNS = Object.keys(BILL) as readonly (keyof BillLine)[];

/** `minutes`: with one decimal. `count`: a whole number. `exception`: a whole number, empty if zero. */
export type BillFormat = 'minutes' | 'count' | 'exception';

/** Columns that the console shows after name and minutes, from left to right, with their English headings. */
export const BILL_ON_CONSOLE = {
  forecast_minutes: { heading: 'Forecast', format: 'minutes' },
  budget_minutes: { heading: 'Budget', format: 'count' },
  sessions: { heading: 'Sessions', format: 'count' },
  unreported: { heading: 'Without a report', format: 'exception' },
} as const satisfies Partial<Record<keyof BillLine, { heading: string; format: BillFormat }>>;
export type ConsoleBillColumn = keyof typeof BILL_ON_CONSOLE;
export const CONSOLE_BILL_COLUMNS = Object.keys(BILL_ON_CONSOLE) as readonly ConsoleBillColumn[];
