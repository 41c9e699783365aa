import { billedMs, openSince } from '../../core/lane/billed.ts';
import { type Admission, admissionOf } from '../../core/owner/admission.ts';
import {
  type BudgetDay,
  type BudgetUse,
  budgetUse,
  countUse,
  isWorthTelling,
  leftMs,
  noteTold,
} from '../../core/owner/budget.ts';
import { dateOf, instantOf, localDay } from '../../core/owner/local-time.ts';
import type { Clock } from '../../ports/clock.ts';
import type { Log } from '../../ports/log.ts';
import type { StateFile } from '../../ports/state-file.ts';
import type { Config } from '../../protocol/config.ts';
import { timestamp } from '../../protocol/mqtt/envelope.ts';
import type { EventDetail } from '../../protocol/mqtt/event.ts';
import { asWall } from '../../protocol/time.ts';
import type { LaneRunner, LaneStep } from '../lane/lane-runner.ts';
import { createBatchedWriter } from './batched-writer.ts';
import { readBudget, writeBudget } from './budget-file.ts';
import { CommandError } from './command-request.ts';

/** A clock that was set or put is noticed within this time. */
const LOOK_EACH_MS = 30_000;
/** Of what is used no more than this is forgotten where the power goes; a card must not be worn out for less. */
const KEEP_EACH_MS = 120_000;
const MINUTE_MS = 60_000;

export interface AdmissionsDeps {
  readonly clock: Clock;
  readonly log: Log;
  readonly lanes: readonly LaneRunner[];
  /** Where days begin that no schedule tells the zone of. */
  readonly timeZone: string;
  /** Keeps what was used over a restart; null: it is forgotten. */
  readonly file: StateFile | null;
  config(): Pick<Config, 'schedule' | 'budget'>;
  tell(detail: EventDetail<'budget'>): void;
  /** What `closedUntil` says has changed. */
  changed(): void;
}

/** Says when lanes may have sessions: by the schedule, the budget, and what an operator has ordered. */
export interface Admissions {
  /** Looks again: the configuration, the clock or the use has changed. */
  review(): void;
  onStep(step: LaneStep): void;
  /** Until when no session may be begun, as a timestamp; null: it may be, or nobody knows until when. */
  closedUntil(lane: string): string | null;
  /** Lets lanes be started, until the moment given whatever the schedule says. @throws CommandError */
  admit(lanes: readonly LaneRunner[], until: string | undefined): void;
  /** An operator has stopped these lanes: what was opened for a while is not any more. */
  stopped(lanes: readonly LaneRunner[]): void;
  close(): Promise<void>;
}

export function createAdmissions(deps: AdmissionsDeps): Admissions {
  const { clock, log, lanes, file } = deps;
  const openUntil = new Map<string, number>();
  const given = new Map<string, Admission>();
  const writer =
    file === null
      ? null
      : createBatchedWriter(
          file,
          clock,
          () => writeBudget(use),
          (problem) => {
            if (problem === null) log.info({}, 'what is used of the budget is kept again');
            else log.warn({}, `${problem}; what is used of the budget is not kept over a restart`);
          },
        );
  let use: BudgetUse = budgetUse(readKept(file, log), clock.now());
  let keptMs = use.today.usedMs;
  let billed = 0;
  let isReviewing = false;
  let isStale = false;
  let isClosed = false;
  let cancel = (): void => {};

  const zone = (): string => deps.config().schedule?.timeZone ?? deps.timeZone;

  /** Adds what was billed since the last time to the day it is now. */
  const count = (): void => {
    const now = clock.now();
    const wall = clock.wall();
    const total = lanes.reduce((sum, { state }) => sum + billedMs(state, now), 0);
    // A lane that began again after a defect may have forgotten its last stream.
    const usedMs = Math.max(0, total - billed);
    billed = total;
    use = countUse(use, wall === null ? null : dateOf(localDay(wall, zone())), now, usedMs);
    const { minutesPerDay } = deps.config().budget;
    if (minutesPerDay !== null && isWorthTelling(use, minutesPerDay)) {
      use = noteTold(use, minutesPerDay);
      const { usedMs } = use.today;
      deps.tell({
        ...{ used_minutes: Math.round(usedMs / MINUTE_MS), minutes_per_day: minutesPerDay },
        percent: Math.round((100 * usedMs) / (minutesPerDay * MINUTE_MS)),
      });
      keep();
    } else if (minutesPerDay !== null && Math.abs(use.today.usedMs - keptMs) >= KEEP_EACH_MS) keep();
  };
  const keep = (): void => {
    keptMs = use.today.usedMs;
    writer?.changed();
  };

  const judge = (): void => {
    const { schedule, budget } = deps.config();
    const wall = clock.wall();
    const left = leftMs(use, budget.minutesPerDay);
    const dayEndsAt =
      wall === null || left === null ? null : instantOf(localDay(wall, zone()) + 1, 0, zone());
    let isTold = false;
    for (const lane of lanes) {
      const opened = openUntil.get(lane.id) ?? null;
      const rules = { schedule, isSpent: left === 0, dayEndsAt, openUntil: opened };
      const admission = admissionOf(rules, wall);
      isTold ||= given.get(lane.id)?.until !== admission.until;
      given.set(lane.id, admission);
      if (lane.state.hold !== admission.hold) lane.post({ type: 'hold', hold: admission.hold });
    }
    if (isTold) deps.changed();
    arm(schedule !== null || left !== null, left);
  };

  const arm = (isRuled: boolean, left: number | null): void => {
    cancel();
    if (!isRuled || isClosed) return;
    const now = clock.now();
    const wall = clock.wall();
    const moments = [...given.values()].flatMap(({ changesAt }) =>
      changesAt === null || wall === null ? [] : [now + changesAt - wall],
    );
    const open = lanes.reduce((sum, { state }) => sum + openSince(state).length, 0);
    if (left !== null && left > 0 && open > 0) moments.push(now + left / open);
    cancel = clock.at(Math.max(now + 1, Math.min(now + LOOK_EACH_MS, ...moments)), review);
  };

  const review = (): void => {
    if (isReviewing) {
      isStale = true;
      return;
    }
    isReviewing = true;
    try {
      do {
        isStale = false;
        count();
        judge();
      } while (isStale);
    } finally {
      isReviewing = false;
    }
  };

  /** Why none of these lanes may be started. @param isOpening whatever the schedule says */
  const refusalOf = (chosen: readonly LaneRunner[], isOpening: boolean): CommandError | null => {
    const { minutesPerDay } = deps.config().budget;
    const wall = clock.wall();
    if (leftMs(use, minutesPerDay) === 0) {
      const at = timestamp(wall === null ? null : asWall(instantOf(localDay(wall, zone()) + 1, 0, zone())));
      const message = `the ${minutesPerDay} minutes of the day are used up (budget.minutesPerDay), and no session is begun until ${at ?? 'the day ends'}`;
      return new CommandError('budget', message);
    }
    const closed = chosen.map(({ id }) => given.get(id)).find((one) => one?.hold === 'closed');
    if (closed === undefined || isOpening) return null;
    const since = closed.until === null ? '' : ` until ${timestamp(asWall(closed.until))}`;
    const message = `it is outside the opening hours of the schedule${since}; give "until" with a time to open it until then`;
    return new CommandError('closed', message);
  };

  return {
    review,
    onStep({ before, after }) {
      const isAsBefore =
        before.counts.streamMs === after.counts.streamMs &&
        openSince(before).length === openSince(after).length;
      if (!isAsBefore) review();
    },
    closedUntil(lane) {
      const until = given.get(lane)?.until ?? null;
      return timestamp(until === null ? null : asWall(until));
    },
    admit(chosen, until) {
      const at = until === undefined ? null : Date.parse(until);
      const wall = clock.wall();
      if (at !== null && wall !== null && at <= wall) {
        throw new CommandError('invalid_args', `until: ${until} is over; give a time that is to come`);
      }
      review();
      const refusal = refusalOf(chosen, at !== null);
      if (refusal !== null) throw refusal;
      if (at === null) return;
      for (const { id } of chosen) openUntil.set(id, at);
      review();
    },
    stopped(chosen) {
      for (const { id } of chosen) openUntil.delete(id);
      review();
    },
    close() {
      count();
      isClosed = true;
      cancel();
      if (deps.config().budget.minutesPerDay !== null && use.today.usedMs !== keptMs) keep();
      return writer?.flush() ?? Promise.resolve();
    },
  };
}

function readKept(file: StateFile | null, log: Log): readonly BudgetDay[] {
  const text = file?.read() ?? null;
  if (text === null) return [];
  const kept = readBudget(text);
  if (kept.kind === 'kept') return kept.content;
  log.warn({}, 'what was used of the budget before cannot be read; it is counted from zero');
  return [];
}
