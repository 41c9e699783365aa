/** The file format of the budget use. */
import * as z from 'zod';
import { type Readers, type Reading, readVersioned } from '../state-files/versioned-file.ts';
import { type BudgetDay, type BudgetUse, daysToKeep } from './budget.ts';
import { DAY_MS } from './local-time.ts';

/** Maximum milliseconds of streams in a day: 16 lanes with two streams each. */
const MOST_USED_MS = 32 * DAY_MS;

const contentSchema = z.object({
  days: z
    .array(
      z.object({
        day: z.iso.date(),
        used_ms: z.number().min(0).max(MOST_USED_MS),
        told_for: z.number().nullable(),
      }),
    )
    .max(64),
});

/** Version of the files that this program writes. */
export const BUDGET_FILE_VERSION = 1;
const READERS: Readers<readonly BudgetDay[]> = {
  1: (json) => {
    const days = contentSchema.safeParse(json).data?.days;
    return days?.map(({ day, used_ms, told_for }) => ({ day, usedMs: used_ms, toldFor: told_for })) ?? null;
  },
};

export function writeBudget(use: BudgetUse): string {
  const days = daysToKeep(use).map(({ day, usedMs, toldFor }) => ({
    day,
    used_ms: Math.round(usedMs),
    told_for: toldFor,
  }));
  return JSON.stringify({ version: BUDGET_FILE_VERSION, days });
}

export function readBudget(text: string): Reading<readonly BudgetDay[]> {
  return readVersioned(text, BUDGET_FILE_VERSION, READERS);
}
