import type { Clock } from '../../ports/clock.ts';
import type { Log } from '../../ports/log.ts';

/** Told of what was thrown where nothing may be. @param where names the part, such as `stream.ping` */
export type Defects = (where: string, error: unknown) => void;

/** What throws once may throw with every piece of sound: each part is heard once in this long, with a count. */
const TOLD_EVERY_MS = 60_000;

/** Tells defects to the log: the first of each part at once, further ones once a minute. Never throws. */
export function createDefects(log: Log, clock: Clock): Defects {
  const told = new Map<string, { at: number; since: number }>();
  return (where, error) => {
    try {
      const known = told.get(where);
      const now = clock.now();
      if (known !== undefined && now - known.at < TOLD_EVERY_MS) {
        known.since += 1;
        return;
      }
      told.set(where, { at: now, since: 0 });
      log.error(
        { where, more: known?.since ?? 0, err: error },
        `a defect of the program: ${where} threw (${nameOf(error)}); the agent goes on`,
      );
    } catch {
      // There is nobody left to tell.
    }
  };
}

/** The kind of an error, for whoever must not see its text: that may hold what was being worked on. */
export function nameOf(error: unknown): string {
  if (!(error instanceof Error)) return typeof error;
  return 'code' in error && typeof error.code === 'string' ? `${error.name} ${error.code}` : error.name;
}

/** A log that never throws: what can't be told is lost. */
export function guardLog(log: Log): Log {
  const quiet =
    (level: keyof Log) =>
    (fields: object, sentence: string): void => {
      try {
        log[level](fields, sentence);
      } catch {
        // A full disk or a closed pipe costs lines, never the program.
      }
    };
  return {
    trace: quiet('trace'),
    debug: quiet('debug'),
    info: quiet('info'),
    warn: quiet('warn'),
    error: quiet('error'),
  };
}

/** Timers whose callbacks may throw without ending the process. */
export function guardClock(clock: Clock, defects: Defects): Clock {
  return {
    now: () => clock.now(),
    wall: () => clock.wall(),
    at: (at, callback, slackMs) => clock.at(at, () => attempt(defects, 'timer', callback), slackMs),
  };
}

/** Does it; what it throws is told, and does not leave here. @returns whether it went well */
export function attempt(defects: Defects, where: string, act: () => void): boolean {
  try {
    act();
    return true;
  } catch (error) {
    defects(where, error);
    return false;
  }
}
