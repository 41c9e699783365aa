import type { StateMessage } from '../../protocol/mqtt/device.ts';
import { timestamp } from '../../protocol/mqtt/envelope.ts';
import { asWall, type WallMs } from '../../protocol/time.ts';
import { CommandError } from '../commands/command-request.ts';
import { openSince } from '../lane/lane-report.ts';
import type { LaneRunner, LaneStep } from '../lane/runner/lane-runner.ts';
import { type Admission, admissionOf } from './admission.ts';
import { type BudgetCountDeps, createBudgetCount } from './budget-count.ts';
import { openingDelayMs } from './schedule.ts';

/** Longest time until a change of the wall clock is noticed (ms). */
const LOOK_EACH_MS = 30_000;

export interface AdmissionsDeps extends BudgetCountDeps {
  /** Name of the device, unique in the fleet. */
  readonly device: string;
  /** The result of `closedUntil` or `budget` has changed. */
  changed(): void;
}

/** Decides when lanes may have sessions: by the schedule, the budget, and the operator's commands. */
export interface Admissions {
  /** Checks again: the configuration, the clock or the budget use has changed. */
  review(): void;
  onStep(step: LaneStep): void;
  /** When sessions may begin again, as a timestamp; null: they may begin now, or the time is unknown. */
  closedUntil(lane: string): string | null;
  /** The use of the day's budget; null: there is no budget. */
  budget(): StateMessage['budget'];
  /**
   * Allows lanes to start. With `until` they may run to that moment, whatever the schedule says. @throws CommandError
   */
  admit(lanes: readonly LaneRunner[], until: string | undefined): void;
  /** An operator has stopped these lanes: their extra opening time ends. */
  stopped(lanes: readonly LaneRunner[]): void;
  close(): Promise<void>;
}

export function createAdmissions(deps: AdmissionsDeps): Admissions {
  const { clock, lanes } = deps;
  const budget = createBudgetCount(deps);
  const openUntil = new Map<string, WallMs>();
  const given = new Map<string, Admission>();
  const delayMs = openingDelayMs(deps.device);
  let toldBudget = '';
  let isReviewing = false;
  let isStale = false;
  let isClosed = false;
  let cancel = (): void => {};

  const judge = (): void => {
    const { schedule } = deps.config();
    const wall = clock.wall();
    const left = budget.left();
    const dayEndsAt = left === null ? null : budget.dayEndsAt();
    const used = JSON.stringify(budget.report());
    let isTold = used !== toldBudget;
    toldBudget = used;
    for (const lane of lanes) {
      const opened = openUntil.get(lane.id) ?? null;
      const admission = admissionOf(
        { schedule, openingDelayMs: delayMs, isSpent: left === 0, dayEndsAt, openUntil: opened },
        wall,
      );
      isTold ||= given.get(lane.id)?.until !== admission.until;
      given.set(lane.id, admission);
      if (lane.state.hold !== admission.hold) lane.post({ type: 'hold', hold: admission.hold });
    }
    if (isTold) deps.changed();
    arm(schedule !== null || left !== null);
  };

  const arm = (isRuled: boolean): void => {
    cancel();
    if (!isRuled || isClosed) return;
    const now = clock.now();
    const wall = clock.wall();
    const moments = lanes.flatMap(({ id }) => {
      const changesAt = given.get(id)?.changesAt ?? null;
      return changesAt === null || wall === null ? [] : [now + changesAt - wall];
    });
    const open = lanes.reduce((sum, { state }) => sum + openSince(state).length, 0);
    const toNews = budget.toNews();
    if (toNews !== null && open > 0) moments.push(now + toNews / open);
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
        budget.count();
        judge();
      } while (isStale);
    } finally {
      isReviewing = false;
    }
  };

  /** Why these lanes may not start; null: they may. @param isOpening the command overrides the schedule */
  const refusalOf = (chosen: readonly LaneRunner[], isOpening: boolean): CommandError | null => {
    if (budget.left() === 0) {
      const { minutesPerDay } = deps.config().budget;
      const at = timestamp(budget.dayEndsAt()) ?? 'the day ends';
      const message = `the ${minutesPerDay} minutes of the day are used up (budget.minutesPerDay): no session begins until ${at}`;
      return new CommandError('budget', message);
    }
    const closed = chosen.map(({ id }) => given.get(id)).find((one) => one?.hold === 'closed');
    if (closed === undefined || isOpening) return null;
    const since = closed.until === null ? '' : ` until ${timestamp(closed.until)}`;
    const message = `it is outside the opening hours of the schedule${since}; give "until" with a time to open it anyway`;
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
    budget: () => budget.report(),
    closedUntil(lane) {
      return timestamp(given.get(lane)?.until ?? null);
    },
    admit(chosen, until) {
      const at = until === undefined ? null : asWall(Date.parse(until));
      const wall = clock.wall();
      if (at !== null && wall !== null && at <= wall) {
        throw new CommandError('invalid_args', `until: ${until} must be in the future`);
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
      budget.count();
      isClosed = true;
      cancel();
      return budget.close();
    },
  };
}
