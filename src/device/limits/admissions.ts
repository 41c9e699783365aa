import type { Handlers } from '../../machine/machine.ts';
import type { Runner } from '../../machine/runner.ts';
import type { Clock } from '../../ports/clock.ts';
import type { Log } from '../../ports/log.ts';
import type { StateFile } from '../../ports/state-file.ts';
import { asWall, type WallMs } from '../../protocol/common/time.ts';
import type { Config } from '../../protocol/config.ts';
import type { StateMessage } from '../../protocol/mqtt/device.ts';
import { timestamp } from '../../protocol/mqtt/envelope.ts';
import type { DeviceTopics } from '../../protocol/mqtt/topics.ts';
import { CommandError } from '../commands/command-request.ts';
import { openSince } from '../lane/lane-report.ts';
import type { LaneRunner, LaneStep } from '../lane/runner/lane-runner.ts';
import { type BatchedWriter, createBatchedWriter } from '../state-files/batched-writer.ts';
import { readKept } from '../state-files/kept-state.ts';
import type { Publisher } from '../status/publisher.ts';
import type { Troubles } from '../status/troubles.ts';
import {
  type AdmissionsEffect,
  type AdmissionsEvent,
  type AdmissionsFacts,
  admissionsMachine,
  budgetReport,
  refusalOf,
} from './admissions-machine.ts';
import type { BudgetUse } from './budget.ts';
import { readBudget, writeBudget } from './budget-file.ts';

export interface AdmissionsDeps {
  readonly topics: DeviceTopics;
  readonly clock: Clock;
  readonly log: Log;
  readonly runner: Runner;
  readonly lanes: readonly LaneRunner[];
  /** Time zone of the days if there is no schedule; absent or null: unknown, so UTC is used and a warning logged. */
  timeZone?(): string | null;
  /** The local day in that zone without time zone tables, which take a tenth of a kiosk's memory. */
  machineDay?(wall: WallMs): number;
  /** Keeps the budget use across restarts; absent: a restart resets it. */
  readonly budgetFile?: StateFile;
  readonly publisher: Pick<Publisher, 'tell' | 'refresh'>;
  readonly troubles: Pick<Troubles, 'kept'>;
  config(): Pick<Config, 'schedule' | 'budget'>;
}

/** Decides when lanes may have sessions: by the schedule, the budget, and the operator's commands. */
export interface Admissions {
  begin(): void;
  lanesChanged(): void;
  configChanged(): void;
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
  const { clock, lanes, runner, log, publisher, machineDay } = deps;
  const timeZone = (): string | null => deps.timeZone?.() ?? null;
  const kept = readKept(
    {
      file: deps.budgetFile ?? null,
      log,
      parse: readBudget,
      late: (days) => machine.post({ type: 'late', days }),
    },
    // A visitor in front of a kiosk with a broken disk matters more than the budget of one day, and the backend has
    // its own limits.
    'cannot read the budget used so far; counting begins at zero',
  );
  const writer = createBudgetWriter(deps, () => machine.state.use);
  const handlers: Handlers<AdmissionsEvent, AdmissionsEffect> = {
    hold({ lane, hold }) {
      lanes.find(({ id }) => id === lane)?.post({ type: 'hold', hold });
    },
    refresh() {
      publisher.refresh();
    },
    tell({ detail }) {
      publisher.tell('budget', { lane: null, ...detail });
    },
    keep() {
      writer?.changed();
    },
    warn_of_zone() {
      log.warn({}, 'the time zone of the machine is unknown: budget days begin at midnight UTC');
    },
  };
  const facts = (): AdmissionsFacts => ({ lanes, config: deps.config(), timeZone, machineDay });
  const machine = runner.run(admissionsMachine(deps.topics.base, kept ?? [], clock.now()), handlers, facts);
  const review = (): void => machine.post({ type: 'review' });

  return {
    begin: review,
    lanesChanged: review,
    configChanged: review,
    onStep({ before, after }) {
      const isAsBefore =
        before.counts.streamMs === after.counts.streamMs &&
        openSince(before).length === openSince(after).length;
      if (!isAsBefore) review();
    },
    budget: () => budgetReport(machine.state, deps.config()),
    closedUntil: (lane) => timestamp(machine.state.admissions[lane]?.until ?? null),
    admit(chosen, until) {
      const at = until === undefined ? null : asWall(Date.parse(until));
      const wall = clock.wall();
      if (at !== null && wall !== null && at <= wall) {
        throw new CommandError('invalid_args', `until: ${until} must be in the future`);
      }
      review();
      const ids = chosen.map(({ id }) => id);
      const refusal = refusalOf(machine.state, ids, at !== null, { ...facts(), now: clock.now(), wall });
      if (refusal !== null) throw new CommandError(refusal.code, refusal.message);
      if (at !== null) machine.post({ type: 'open', lanes: ids, until: at });
    },
    stopped: (chosen) => machine.post({ type: 'stopped', lanes: chosen.map(({ id }) => id) }),
    close() {
      machine.post({ type: 'end' });
      machine.close();
      return writer?.flush() ?? Promise.resolve();
    },
  };
}

function createBudgetWriter(
  { budgetFile, clock, log, troubles }: AdmissionsDeps,
  use: () => BudgetUse,
): BatchedWriter | null {
  if (budgetFile === undefined) return null;
  const kept = troubles.kept('budget');
  return createBatchedWriter(
    budgetFile,
    clock,
    () => writeBudget(use()),
    (problem) => {
      kept(problem);
      if (problem === null) log.info({}, 'budget usage is saved again');
      else log.warn({}, `${problem}; budget usage will not survive a restart`);
    },
  );
}
