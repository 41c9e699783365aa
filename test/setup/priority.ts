import { readdirSync } from 'node:fs';
import { setPriority } from 'node:os';

const PRIORITY = 5;

if (process.env['TESTS_GIVE_WAY'] !== undefined) giveWay();

/** Linux gives each thread a priority of its own: those that collect garbage and compile were started before this. */
function giveWay(): void {
  setPriority(PRIORITY);
  for (const thread of readdirSync('/proc/self/task')) {
    try {
      setPriority(Number(thread), PRIORITY);
    } catch {
      // It has ended meanwhile.
    }
  }
}
