import * as z from 'zod';
import { plainTextSchema } from './common/plain-text.ts';

/** Weekdays as written in a schedule, in the order of `Date.getUTCDay`. */
export const WEEKDAYS = ['sun', 'mon', 'tue', 'wed', 'thu', 'fri', 'sat'] as const;

const MOST_WINDOWS = 32;
/** Maximum number of closed dates: more than one year has. */
const MOST_CLOSED = 400;
const BUDGET_MINUTES = { min: 1, max: 100_000 } as const;

/** Whether this machine knows the time zone. */
export function isTimeZone(name: string): boolean {
  try {
    new Intl.DateTimeFormat('en', { timeZone: name });
    return true;
  } catch {
    return false;
  }
}

export const timeOfDaySchema = z
  .string()
  .regex(/^([01]\d|2[0-3]):[0-5]\d$/, 'must be a time of day such as "09:00"');

/** When sessions may be opened. */
export const scheduleSchema = z.strictObject({
  timeZone: plainTextSchema
    .min(1)
    .max(64)
    .refine(isTimeZone, 'must be a time zone such as "Europe/Berlin"')
    .describe('Time zone of all times and dates in the schedule, such as "Europe/Berlin".'),
  open: z
    .array(
      z.strictObject({
        days: z
          .array(z.enum(WEEKDAYS))
          .min(1)
          .max(7)
          .refine((days) => new Set(days).size === days.length, 'must not name a day twice')
          .describe('Days on which it opens.'),
        from: timeOfDaySchema.describe('Opening time.'),
        to: timeOfDaySchema.describe('Closing time; on the next day if not later than "from".'),
      }),
    )
    .min(1)
    .max(MOST_WINDOWS)
    .describe('Opening hours; they may overlap.'),
  closed: z
    .array(z.iso.date('must be a date such as "2026-12-25"'))
    .max(MOST_CLOSED)
    .default([])
    .describe('Dates on which it stays closed.'),
});
export type Schedule = z.infer<typeof scheduleSchema>;

/** The daily limit. Without a default, because the key is optional in `config/desired`. */
export const minutesPerDaySchema = z
  .number()
  .min(BUDGET_MINUTES.min)
  .max(BUDGET_MINUTES.max)
  .nullable()
  .describe(
    'Maximum minutes of open streams per day, all lanes together. After that no session starts; null: no limit.',
  );
