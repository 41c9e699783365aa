/** Measures the journal output of the shipped agent without faults. */
import { createLogger } from '../../src/adapters/log.ts';
import { MUSEUM, QUIET_DAY } from './day.ts';
import type { Habits } from './visitors.ts';
import { createWorld } from './world.ts';

const HOUR_MS = 3_600_000;

export interface JournalShare {
  readonly lines: number;
  /** Bytes of the lines as written; the journal adds fields of its own. */
  readonly bytes: number;
}

/** No visitors: one in hundreds of years. */
export const NO_VISITORS: Habits = { ...MUSEUM, betweenVisitsMs: 1e13 };

/** Runs the shipped agent for simulated hours, at the shipped log level. */
export async function runJournal(seed: number, habits: Habits, hours: number): Promise<JournalShare> {
  const given = { lines: 0, bytes: 0 };
  const write = (text: string): void => {
    given.lines += 1;
    given.bytes += Buffer.byteLength(text);
  };
  const log = createLogger({ level: 'info', format: 'journal', sink: { write } });
  const world = createWorld(seed, { ...QUIET_DAY, habits }, { spoil: (outside) => ({ ...outside, log }) });
  world.device.start();
  await world.clock.run(hours * HOUR_MS);
  return given;
}
