import { expect, it } from 'vitest';
import { MUSEUM } from './day.ts';
import { NOBODY, runJournal } from './disk.ts';

const DAY_HOURS = 24;
/** A slow card lasts for years with ten times as much. */
const DAY = { restingLines: 60, visitors: { lines: 3000, bytes: 300_000 } };

/** What this many hours write to the journal stays far below what a day may. */
export function testJournal(given: { hoursOfRest: number; hoursOfVisits: number }): void {
  it('nothing without visitors, but the lines of the start', async () => {
    const { lines } = await runJournal(1, NOBODY, given.hoursOfRest);
    // As if the start came again each time.
    expect((lines * DAY_HOURS) / given.hoursOfRest).toBeLessThan(DAY.restingLines);
  });

  it('a few lines for each visit', async ({ annotate }) => {
    const { lines, bytes } = await runJournal(1, MUSEUM, given.hoursOfVisits);
    const times = DAY_HOURS / given.hoursOfVisits;
    await annotate(`${lines * times} lines, ${Math.round((bytes * times) / 1000)} kB a day`);
    expect(lines).toBeGreaterThan(20);
    expect(lines * times).toBeLessThan(DAY.visitors.lines);
    expect(bytes * times).toBeLessThan(DAY.visitors.bytes);
  });
}
