import type { Clock } from '../../ports/clock.ts';
import type { Log } from '../../ports/log.ts';

/** Told of what was thrown where nothing may be. @param where names the part, such as `stream.ping` */
export type Defects = (where: string, error: unknown) => void;

/** What throws once may throw with every piece of sound: each part is heard once in this long, with a count. */
const TOLD_EVERY_MS = 60_000;

/** Tells the owner. @param message a sentence for people, without the error's own text */
export type TellDefect = (where: string, message: string) => void;

/** Where defects are told: in the log, and to the owner as soon as anybody can be told. */
export interface DefectReports {
  /** Never throws. */
  readonly report: Defects;
  /** The owner is told from here on, and of what there has been before. Told of each one: counting is for whoever tells. */
  tellOwner(tell: TellDefect): void;
}

/** More than these, before the owner can be told of any, are in the log alone. */
const MOST_HELD = 100;

/** Tells defects to the log: the first of each part at once, further ones once a minute; and all to the owner. Never throws. */
export function createDefects(log: Log, clock: Clock): DefectReports {
  const told = new Map<string, { at: number; since: number }>();
  const held: [where: string, message: string][] = [];
  let tell: TellDefect = (...defect) => {
    if (held.length < MOST_HELD) held.push(defect);
  };
  const note = (where: string, message: string, error: unknown): void => {
    const known = told.get(where);
    const now = clock.now();
    if (known !== undefined && now - known.at < TOLD_EVERY_MS) {
      known.since += 1;
      return;
    }
    told.set(where, { at: now, since: 0 });
    log.error({ where, more: known?.since ?? 0, err: error }, message);
  };
  const report: Defects = (where, error) => {
    const message = `a defect of the program: ${where} threw (${nameOf(error)}); the agent goes on`;
    // Each of them may be what throws; then nobody is left to be told but the other.
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

/** What names of errors and their codes look like: anything else may hold what was being worked on. */
const NAME = /^[A-Za-z][A-Za-z0-9]{0,39}$/;
const CODE = /^[A-Z][A-Z0-9_]{0,39}$/;

/** The kind of an error, for whoever must not see its text: that may hold what was being worked on. */
export function nameOf(error: unknown): string {
  try {
    if (!(error instanceof Error)) return typeof error;
    const { name } = error;
    const code = 'code' in error ? error.code : null;
    const kind = NAME.test(name) ? name : 'Error';
    return typeof code === 'string' && CODE.test(code) ? `${kind} ${code}` : kind;
  } catch {
    // One whose parts throw, too.
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
