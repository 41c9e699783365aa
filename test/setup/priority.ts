import { readdirSync } from 'node:fs';
import { setPriority } from 'node:os';

const { TESTS_GIVE_WAY, TESTS_PRIORITY } = process.env;
if (TESTS_GIVE_WAY !== undefined) giveWay(Number(TESTS_PRIORITY));

/** Linux gives each thread a priority of its own: those that collect garbage and compile were started before this. */
function giveWay(priority: number): void {
  setPriority(priority);
  for (const thread of readdirSync('/proc/self/task')) {
    try {
      setPriority(Number(thread), priority);
    } catch {
      // It has ended meanwhile.
    }
  }
}
