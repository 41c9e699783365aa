import type { Clock } from '../../ports/clock.ts';
import type { Log } from '../../ports/log.ts';
import type { StateFile } from '../../ports/state-file.ts';
import type { Config } from '../../protocol/config.ts';
import type { StateMessage } from '../../protocol/mqtt/device.ts';
import type { EventDetail } from '../../protocol/mqtt/event.ts';
import type { WallMs } from '../../protocol/time.ts';
import { billedMs } from '../lane/lane-report.ts';
import type { LaneRunner } from '../lane/runner/lane-runner.ts';
import { createBatchedWriter } from '../state-files/batched-writer.ts';
import { readKept } from '../state-files/kept-state.ts';
import {
  addKept,
  type BudgetUse,
  budgetUse,
  countUse,
  isWorthTelling,
  leftMs,
  msToNews,
  noteTold,
} from './budget.ts';
import { readBudget, writeBudget } from './budget-file.ts';
import { dateOf, instantOf, localDay } from './local-time.ts';

/** Save interval, and so the maximum budget use lost at a power cut (ms of open streams): writing more often would wear out the SD card. */
const KEEP_EACH_MS = 120_000;
const MINUTE_MS = 60_000;

export interface BudgetCountDeps {
  readonly clock: Clock;
  readonly log: Log;
  readonly lanes: readonly LaneRunner[];
  /** Time zone of the days if there is no schedule; null: unknown, so UTC is used and a warning logged. */
  timeZone(): string | null;
  /** The local day in that zone without time zone tables, which take a tenth of a kiosk's memory. */
  machineDay?: ((wall: WallMs) => number) | undefined;
  /** Keeps the budget use across restarts; null: a restart resets it. */
  readonly file: StateFile | null;
  /** Called with a reason when the use cannot be saved, and with null once it can be saved again. */
  kept(problem: string | null): void;
  config(): Pick<Config, 'schedule' | 'budget'>;
  tell(detail: EventDetail<'budget'>): void;
}

/** Counts the time of open streams, by local day. */
export interface BudgetCount {
  /** Adds the time billed since the last call to the present day. */
  count(): void;
  /** For the state; null: no limit. */
  report(): StateMessage['budget'];
  /** Budget left for the day (ms); null: no limit. */
  left(): number | null;
  /** Milliseconds of use until the next check; null: no check is needed. */
  toNews(): number | null;
  /** When the local day ends, wall-clock milliseconds; null: the clock is not set. */
  dayEndsAt(): WallMs | null;
  close(): Promise<void>;
}

export function createBudgetCount(deps: BudgetCountDeps): BudgetCount {
  const { clock, log, lanes, file } = deps;
  // If the file cannot be read, counting begins at zero. A visitor in front of a kiosk with a broken disk matters
  // more than the budget of one day, and the backend has its own limits.
  const kept = readKept(
    {
      file,
      log,
      parse: readBudget,
      late: (days) => {
        use = addKept(use, days);
        keep();
      },
    },
    'cannot read the budget used so far; counting begins at zero',
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
            if (problem === null) log.info({}, 'budget usage is saved again');
            else log.warn({}, `${problem}; budget usage will not survive a restart`);
          },
        );

  const zone = (): string => deps.config().schedule?.timeZone ?? deps.timeZone() ?? 'UTC';
  /** Without a limit the end of the day has no effect, but a limit that is set later includes the day's use so far. */
  const dayOf = (wall: WallMs): number => {
    const { schedule, budget } = deps.config();
    const isPlain = schedule === null && budget.minutesPerDay === null;
    return isPlain && deps.machineDay !== undefined ? deps.machineDay(wall) : localDay(wall, zone());
  };
  const keep = (): void => {
    keptMs = use.today.usedMs;
    writer?.changed();
  };
  const tellMost = (minutesPerDay: number): void => {
    use = noteTold(use, minutesPerDay);
    const { usedMs } = use.today;
    deps.tell({
      used_minutes: Math.round(usedMs / MINUTE_MS),
      minutes_per_day: minutesPerDay,
      percent: Math.round((100 * usedMs) / (minutesPerDay * MINUTE_MS)),
    });
    keep();
  };
  /** Logged once, because it explains why the budget restarts at an unexpected hour. */
  const warnOfZone = (): void => {
    if (isZoneTold || deps.timeZone() !== null || deps.config().schedule !== null) return;
    isZoneTold = true;
    log.warn({}, 'the time zone of the machine is unknown: budget days begin at midnight UTC');
  };

  return {
    count() {
      const now = clock.now();
      const wall = clock.wall();
      const total = lanes.reduce((sum, { state }) => sum + billedMs(state, now), 0);
      // After a defect, a restarted lane may have forgotten its last stream.
      const usedMs = Math.max(0, total - billed);
      billed = total;
      use = countUse(use, wall === null ? null : dateOf(dayOf(wall)), now, usedMs);
      const { minutesPerDay } = deps.config().budget;
      if (minutesPerDay === null) return;
      warnOfZone();
      if (isWorthTelling(use, minutesPerDay)) tellMost(minutesPerDay);
      else if (Math.abs(use.today.usedMs - keptMs) >= KEEP_EACH_MS) keep();
    },
    report() {
      const { minutesPerDay } = deps.config().budget;
      if (minutesPerDay === null) return null;
      return { used_minutes: Math.floor(use.today.usedMs / MINUTE_MS), minutes_per_day: minutesPerDay };
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
