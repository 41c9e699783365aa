import type { Updates } from '../../ports/updater.ts';
import type { WallMs } from '../../protocol/common/time.ts';
import type { UpdateOrder, UpdateReport, UpdateStatus } from '../../protocol/common/update.ts';
import type { Config } from '../../protocol/config.ts';
import { CommandError } from '../commands/command-request.ts';
import type { CommandHandlers } from '../commands/command-table.ts';
import type { GuardedDeps } from '../guard/guarded-deps.ts';
import type { LaneRunner } from '../lane/runner/lane-runner.ts';
import type { Publisher } from '../status/publisher.ts';
import { disturbsNobody, isInWindow } from './good-moment.ts';

/** Polling interval (ms). The polls share wake-ups with other timers. */
const LOOK_EVERY_MS = 5000;

export interface UpdateWatchDeps {
  /** `updates` is absent if this machine has no updater. */
  readonly deps: Pick<GuardedDeps, 'updates' | 'clock' | 'log' | 'machineMinute' | 'randomHash'>;
  readonly lanes: readonly LaneRunner[];
  config(): Config;
  readonly publisher: Pick<Publisher, 'refresh' | 'tell'>;
}

/** Follows the updater, passes orders on to it, and tells it when a restart would not interrupt anyone. The updater decides the rest. */
export interface UpdateWatch {
  begin(): void;
  /** Null: there is no updater. */
  readonly report: UpdateReport | null;
  /** Handlers of the commands. */
  readonly commands: Pick<CommandHandlers, 'update' | 'rollback'>;
  close(): void;
}

const UNSUPPORTED =
  'this device has no updater: install the package dragoman with systemd, and enable dragoman-update.path and dragoman-update.service';

export function createUpdateWatch({ deps, lanes, config, publisher }: UpdateWatchDeps): UpdateWatch {
  const { clock, log } = deps;
  const updates = deps.updates ?? null;
  let status: UpdateStatus | null = null;
  let allowed: string | null = null;
  let cancel = (): void => {};
  let isClosed = false;

  const mayRestart = (): boolean => {
    const wall = clock.wall();
    const minute = wall === null ? null : (deps.machineMinute?.(wall) ?? minuteInUtc(wall));
    const states = lanes.map(({ state }) => state);
    return isInWindow(config().update.window, minute) && disturbsNobody(states, clock.now());
  };
  const look = async (): Promise<void> => {
    if (updates === null) return;
    const before = status;
    status = await updates.look();
    if (isClosed) return;
    const report = status === null ? null : reportOf(status);
    if (report !== null && JSON.stringify(report) !== JSON.stringify(before && reportOf(before))) {
      // A state from before the start was reported by the last run, except for a switch, which ended that run.
      const isNews = before === null ? report.state === 'confirming' : before.state !== report.state;
      if (isNews) log.info({ state: report.state, to: report.to, reason: report.reason }, 'update');
      publisher.refresh();
      const { progress: _, ...news } = report;
      if (isNews) publisher.tell('update', { lane: null, ...news });
    }
    const next = status?.asks === true && mayRestart() ? status.order : null;
    if (next !== allowed) await updates.allow(next);
    allowed = next;
  };
  const again = (): void => {
    void look().finally(() => {
      if (!isClosed) cancel = clock.at(clock.now() + LOOK_EVERY_MS, again, LOOK_EVERY_MS / 5);
    });
  };
  const give = async (to: Updates, order: UpdateOrder): Promise<object> => {
    const seenUpdater = await to.look();
    if (seenUpdater === null) throw new CommandError('unsupported', UNSUPPORTED);
    if (order.do === 'rollback' && seenUpdater.previous === null && !isUnderWay(seenUpdater))
      throw new CommandError('no_version', 'there is no earlier version to return to');
    const problem = await to.order(order);
    if (problem !== null) throw new CommandError('not_kept', problem);
    return {};
  };

  const updater = (): Updates => {
    if (updates === null) throw new CommandError('unsupported', UNSUPPORTED);
    return updates;
  };

  return {
    begin: again,
    get report() {
      return status === null ? null : reportOf(status);
    },
    commands: {
      update({ version, manifest_url = null, not_before = null }) {
        return give(updater(), { do: 'update', id: deps.randomHash(), version, manifest_url, not_before });
      },
      rollback: () => give(updater(), { do: 'rollback', id: deps.randomHash() }),
    },
    close() {
      isClosed = true;
      cancel();
    },
  };
}

const reportOf = ({ state, from, to, reason, progress }: UpdateStatus): UpdateReport => ({
  state,
  from,
  to,
  reason,
  progress,
});

/** Whether an update is in progress; a roll-back ends it. */
const isUnderWay = ({ state }: UpdateStatus): boolean =>
  ['downloading', 'verifying', 'ready', 'switching', 'confirming'].includes(state);

const MINUTE_MS = 60_000;
const MINUTES_PER_DAY = 1440;
const minuteInUtc = (wall: WallMs): number => Math.floor(wall / MINUTE_MS) % MINUTES_PER_DAY;
