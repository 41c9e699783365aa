import type { Clock } from '../ports/clock.ts';
import type { Log } from '../ports/log.ts';

/** Reports an exception in a place that must not throw. @param where names the part, such as `stream.ping` */
export type Defects = (where: string, error: unknown) => void;

/** Interval of log lines for one part (ms), each with a count: a defect may repeat with every chunk of sound. */
const TOLD_EVERY_MS = 60_000;

/** Publishes a defect for the owner. @param message a sentence without the error's own text */
export type TellDefect = (where: string, message: string) => void;

/** Reports defects in the log, and to the owner as soon as that is possible. */
export interface DefectReports {
  /** Never throws. */
  readonly report: Defects;
  /** Publishes all later defects and those held so far. `tell` is called for each one: the receiver limits the rate. */
  tellOwner(tell: TellDefect): void;
}

/** Maximum number of defects held for the owner until the first connection; further defects are only logged. */
const MOST_HELD = 100;

/** Logs the first defect of each part at once, then one a minute; passes all of them to the owner. Never throws. */
export function createDefects(log: Log, clock: Clock): DefectReports {
  const lastLogged = new Map<string, { at: number; since: number }>();
  const held: [where: string, message: string][] = [];
  let tell: TellDefect = (...defect) => {
    if (held.length < MOST_HELD) held.push(defect);
  };
  const note = (where: string, message: string, error: unknown): void => {
    const known = lastLogged.get(where);
    const now = clock.now();
    if (known !== undefined && now - known.at < TOLD_EVERY_MS) {
      known.since += 1;
      return;
    }
    lastLogged.set(where, { at: now, since: 0 });
    log.error({ where, more: known?.since ?? 0, err: error }, message);
  };
  const report: Defects = (where, error) => {
    const message = `a defect of the program: ${where} threw (${nameOf(error)}); the agent goes on`;
    // Either of the two may throw; the other one still reports.
    for (const one of [() => note(where, message, error), () => tell(where, message)]) {
      try {
        one();
      } catch {}
    }
  };
  return {
    report,
    tellOwner(next) {
      tell = next;
      for (const [where, message] of held.splice(0)) attempt(report, 'defects', () => tell(where, message));
    },
  };
}

/** Patterns of error names and codes; any other text may contain confidential data. */
const NAME = /^[A-Za-z][A-Za-z0-9]{0,39}$/;
const CODE = /^[A-Z][A-Z0-9_]{0,39}$/;

/** The kind of an error without its text, which may contain confidential data. */
export function nameOf(error: unknown): string {
  try {
    if (!(error instanceof Error)) return typeof error;
    const { name } = error;
    const code = 'code' in error ? error.code : null;
    const kind = NAME.test(name) ? name : 'Error';
    return typeof code === 'string' && CODE.test(code) ? `${kind} ${code}` : kind;
  } catch {
    // Reading the error's own properties has thrown.
    return 'Error';
  }
}

/** Timers whose callbacks may throw without ending the process. */
export function guardClock(clock: Clock, defects: Defects): Clock {
  return {
    now: () => clock.now(),
    wall: () => clock.wall(),
    at: (at, callback, slackMs) => clock.at(at, () => attempt(defects, 'timer', callback), slackMs),
  };
}

/** Runs `act` and reports its exception. @returns whether it succeeded */
export function attempt(defects: Defects, where: string, act: () => void): boolean {
  try {
    act();
    return true;
  } catch (error) {
    defects(where, error);
    return false;
  }
}
