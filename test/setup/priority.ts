import { readdirSync } from 'node:fs';
import { setPriority } from 'node:os';

const PRIORITY = 5;

if (process.env['TESTS_GIVE_WAY'] !== undefined) giveWay();

/** Lowers the priority of all threads: Linux has a priority for each thread, and V8's threads were started earlier. */
function giveWay(): void {
  setPriority(PRIORITY);
  for (const thread of readdirSync('/proc/self/task')) {
    try {
      setPriority(Number(thread), PRIORITY);
    } catch {
      // The thread has ended.
    }
  }
}
