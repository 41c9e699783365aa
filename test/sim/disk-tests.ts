import { expect, it } from 'vitest';
import { MUSEUM } from './day.ts';
import { NO_VISITORS, runJournal } from './journal.ts';

const DAY_HOURS = 24;
/** Limits for a day: a slow card lasts for years with ten times as much. */
const DAY = { restingLines: 60, visitors: { lines: 3000, bytes: 300_000 } };

/** Tests that the journal output of this many hours stays far below the limits of a day. */
export function testJournal(given: { hoursOfRest: number; hoursOfVisits: number }): void {
  it('writes only the lines of the start to the journal when there are no visitors', async () => {
    const { lines } = await runJournal(1, NO_VISITORS, given.hoursOfRest);
    // Counts the lines of the start once for each run that fits into a day.
    expect((lines * DAY_HOURS) / given.hoursOfRest).toBeLessThan(DAY.restingLines);
  });

  it('writes a few lines to the journal for each visit', async ({ annotate }) => {
    const { lines, bytes } = await runJournal(1, MUSEUM, given.hoursOfVisits);
    const times = DAY_HOURS / given.hoursOfVisits;
    await annotate(`${lines * times} lines, ${Math.round((bytes * times) / 1000)} kB a day`);
    expect(lines).toBeGreaterThan(20);
    expect(lines * times).toBeLessThan(DAY.visitors.lines);
    expect(bytes * times).toBeLessThan(DAY.visitors.bytes);
  });
}
