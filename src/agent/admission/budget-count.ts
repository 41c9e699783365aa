import { billedMs } from '../../core/lane/billed.ts';
import {
  addKept,
  type BudgetUse,
  budgetUse,
  countUse,
  isWorthTelling,
  leftMs,
  msToNews,
  noteTold,
} from '../../core/owner/budget.ts';
import { dateOf, instantOf, localDay } from '../../core/owner/local-time.ts';
import type { Clock } from '../../ports/clock.ts';
import type { Log } from '../../ports/log.ts';
import type { StateFile } from '../../ports/state-file.ts';
import type { Config } from '../../protocol/config.ts';
import type { EventDetail } from '../../protocol/mqtt/event.ts';
import type { WallMs } from '../../protocol/time.ts';
import type { LaneRunner } from '../lane/lane-runner.ts';
import { createBatchedWriter } from '../state-files/batched-writer.ts';
import { readKept } from '../state-files/kept-state.ts';
import { readBudget, writeBudget } from './budget-file.ts';

/** Of what is used no more than this is forgotten where the power goes; a card must not be worn out for less. */
const KEEP_EACH_MS = 120_000;
const MINUTE_MS = 60_000;

export interface BudgetCountDeps {
  readonly clock: Clock;
  readonly log: Log;
  readonly lanes: readonly LaneRunner[];
  /** Where days begin that no schedule tells the zone of; null: in UTC, which the owner is told. */
  readonly timeZone: string | null;
  /** Keeps what was used over a restart; null: it is forgotten. */
  readonly file: StateFile | null;
  /** It cannot be kept, and why; null: it can again. */
  kept(problem: string | null): void;
  config(): Pick<Config, 'schedule' | 'budget'>;
  tell(detail: EventDetail<'budget'>): void;
}

/** Counts what the service has had open, by local days. */
export interface BudgetCount {
  /** Adds what was billed since the last time to the day it is now. */
  count(): void;
  /** How much is left of the day, milliseconds; null: there is no limit. */
  left(): number | null;
  /** How much more has to be used before it is to be looked at again, milliseconds; null: nothing depends on it. */
  toNews(): number | null;
  /** When the local day ends, wall-clock milliseconds; null: the clock is not set. */
  dayEndsAt(): WallMs | null;
  close(): Promise<void>;
}

export function createBudgetCount(deps: BudgetCountDeps): BudgetCount {
  const { clock, log, lanes, file } = deps;
  // Without what was kept it is counted from zero: a visitor who stands before a kiosk with a broken disk is worth more than
  // the minutes of the day that may be used twice, and the account has limits of its own at the backend.
  const kept = readKept(
    {
      ...{ file, log, parse: readBudget },
      late: (days) => {
        use = addKept(use, days);
        keep();
      },
    },
    'what was used of the budget before cannot be read; it is counted from zero',
  );
  let use: BudgetUse = budgetUse(kept ?? [], clock.now());
  let keptMs = use.today.usedMs;
  let billed = 0;
  let isZoneTold = false;
  const writer =
    file === null
      ? null
      : createBatchedWriter(
          file,
          clock,
          () => writeBudget(use),
          (problem) => {
            deps.kept(problem);
            if (problem === null) log.info({}, 'what is used of the budget is kept again');
            else log.warn({}, `${problem}; what is used of the budget is not kept over a restart`);
          },
        );

  const zone = (): string => deps.config().schedule?.timeZone ?? deps.timeZone ?? 'UTC';
  const keep = (): void => {
    keptMs = use.today.usedMs;
    writer?.changed();
  };
  const tellMost = (minutesPerDay: number): void => {
    use = noteTold(use, minutesPerDay);
    const { usedMs } = use.today;
    deps.tell({
      ...{ used_minutes: Math.round(usedMs / MINUTE_MS), minutes_per_day: minutesPerDay },
      percent: Math.round((100 * usedMs) / (minutesPerDay * MINUTE_MS)),
    });
    keep();
  };
  /** Nobody is to wonder at midnight why the budget is as it was. */
  const warnOfZone = (): void => {
    if (isZoneTold || deps.timeZone !== null || deps.config().schedule !== null) return;
    isZoneTold = true;
    log.warn({}, 'the time zone of the machine is not known: the days of the budget begin at midnight UTC');
  };

  return {
    count() {
      const now = clock.now();
      const wall = clock.wall();
      const total = lanes.reduce((sum, { state }) => sum + billedMs(state, now), 0);
      // A lane that began again after a defect may have forgotten its last stream.
      const usedMs = Math.max(0, total - billed);
      billed = total;
      use = countUse(use, wall === null ? null : dateOf(localDay(wall, zone())), now, usedMs);
      const { minutesPerDay } = deps.config().budget;
      if (minutesPerDay === null) return;
      warnOfZone();
      if (isWorthTelling(use, minutesPerDay)) tellMost(minutesPerDay);
      else if (Math.abs(use.today.usedMs - keptMs) >= KEEP_EACH_MS) keep();
    },
    left: () => leftMs(use, deps.config().budget.minutesPerDay),
    toNews: () => msToNews(use, deps.config().budget.minutesPerDay),
    dayEndsAt() {
      const wall = clock.wall();
      return wall === null ? null : instantOf(localDay(wall, zone()) + 1, 0, zone());
    },
    close() {
      if (deps.config().budget.minutesPerDay !== null && use.today.usedMs !== keptMs) keep();
      return writer?.flush() ?? Promise.resolve();
    },
  };
}
