import { z } from 'zod';
import { plainTextSchema } from './plain-text.ts';

/** As in a schedule, in the order of `Date.getUTCDay`. */
export const WEEKDAYS = ['sun', 'mon', 'tue', 'wed', 'thu', 'fri', 'sat'] as const;

const MOST_WINDOWS = 32;
/** More than a year. */
const MOST_CLOSED = 400;
const BUDGET_MINUTES = { min: 1, max: 100_000 } as const;

/** Whether this machine knows a time zone of that name. */
export function isTimeZone(name: string): boolean {
  try {
    new Intl.DateTimeFormat('en', { timeZone: name });
    return true;
  } catch {
    return false;
  }
}

const timeOfDaySchema = z
  .string()
  .regex(/^([01]\d|2[0-3]):[0-5]\d$/, 'must be a time of day such as "09:00"');

/** When sessions may be opened. */
export const scheduleSchema = z.strictObject({
  timeZone: plainTextSchema
    .min(1)
    .max(64)
    .refine(isTimeZone, 'must be a time zone such as "Europe/Berlin"')
    .describe('Where its times and dates are told, such as "Europe/Berlin".'),
  open: z
    .array(
      z.strictObject({
        days: z
          .array(z.enum(WEEKDAYS))
          .min(1)
          .max(7)
          .refine((days) => new Set(days).size === days.length, 'must not name a day twice')
          .describe('On which days it opens.'),
        from: timeOfDaySchema.describe('When it opens.'),
        to: timeOfDaySchema.describe('When it closes; at or before "from": on the next day.'),
      }),
    )
    .min(1)
    .max(MOST_WINDOWS)
    .describe('Opening hours; they may overlap.'),
  closed: z
    .array(z.iso.date('must be a date such as "2026-12-25"'))
    .max(MOST_CLOSED)
    .default([])
    .describe('Dates on which it does not open.'),
});
export type Schedule = z.infer<typeof scheduleSchema>;

/** A key of the budget that may be missing: it says nothing about itself then. */
export const minutesPerDaySchema = z
  .number()
  .min(BUDGET_MINUTES.min)
  .max(BUDGET_MINUTES.max)
  .nullable()
  .describe(
    'Minutes of open streams a day, of all lanes together, after which no session is begun; null: no limit.',
  );
