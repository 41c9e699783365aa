import type { StateFile } from '../../ports/state-file.ts';
import type { Config, LaneConfig } from '../../protocol/config.ts';
import { optionsAgain } from '../lane/runner/configured-options.ts';
import type { LaneStep } from '../lane/runner/lane-runner.ts';
import { TASK_KEYS } from '../lane/state/lane-options.ts';
import type { LaneState } from '../lane/state/lane-state.ts';
import type { Troubles } from '../status/troubles.ts';
import {
  createDesiredConfig,
  type DesiredConfig,
  type DesiredConfigDeps,
  type RefusedKeys,
} from './desired-config.ts';
import { createLaneUpkeep, type LaneOrders } from './lane-upkeep.ts';
import { mergeRunning, restartKeys } from './reload.ts';

export interface RunningConfigDeps
  extends Omit<DesiredConfigDeps, 'file' | 'kept' | 'apply' | 'refusedTasks'> {
  /** Keeps the last accepted documents across restarts; absent: they are not kept. */
  readonly desiredFile?: StateFile;
  readonly troubles: Pick<Troubles, 'kept'>;
  readonly orders: LaneOrders;
  watch(listener: (step: LaneStep) => void): () => void;
  setLogLevel(level: Config['log']['level']): void;
  /** The configuration in force has changed. */
  configChanged(): void;
}

type DesiredHooks = Omit<DesiredConfig, 'config' | 'rebase' | 'refusalsChanged'>;

/** The configuration in force, applied to the lanes without a restart. */
export interface RunningConfig extends DesiredHooks {
  readonly current: Config;
  /** The part of the files' configuration that is in force, without `config/desired` and commands. */
  readonly ofFiles: Config;
  /** The device's own configuration was read again. Returns the keys that need a restart. */
  apply(next: Config): string[];
}

export function createRunningConfig(deps: RunningConfigDeps): RunningConfig {
  const desired = createDesiredConfig({
    ...deps,
    file: deps.desiredFile ?? null,
    kept: deps.troubles.kept('desired'),
    refusedTasks: () => current.lanes.flatMap((lane) => refusedOf(lane, deps.orders.of(lane.id)?.state)),
    apply: (next) => put(next),
  });
  let current = desired.config;
  let base = deps.base;
  let ofFiles = base;
  /** The newest configuration from the files. */
  let latest = base;
  deps.setLogLevel(current.log.level);
  deps.watch(({ before, after }) => {
    if (before.refusedTask !== after.refusedTask || isRejected(before) !== isRejected(after))
      desired.refusalsChanged();
  });

  const upkeep = createLaneUpkeep({
    orders: deps.orders,
    clock: deps.clock,
    log: deps.log,
    running: () => base,
    wanted: () => latest,
    change(change) {
      base = change(base);
      current = change(current);
      ofFiles = mergeRunning(base, latest);
    },
    changed: () => deps.configChanged(),
    inForce: () => current,
    desired: () => desired.config,
  });

  const put = (next: Config): void => {
    for (const lane of next.lanes) {
      const options = optionsAgain(
        current.lanes.find(({ id }) => id === lane.id),
        lane,
      );
      if (Object.keys(options).length > 0) deps.orders.of(lane.id)?.post({ type: 'options', options });
    }
    if (next.log.level !== current.log.level) deps.setLogLevel(next.log.level);
    current = mergeRunning(current, next);
    deps.configChanged();
  };

  const { subscriptions, receive, oversized, trust, connected } = desired;
  return {
    subscriptions,
    receive,
    oversized,
    trust,
    connected,
    get current() {
      return current;
    },
    get ofFiles() {
      return ofFiles;
    },
    apply(next) {
      latest = next;
      ofFiles = mergeRunning(base, next);
      desired.rebase(next);
      // Compare with the running values, not with the last file: a change may have been reverted, or may still wait for
      // a restart.
      upkeep.look();
      return restartKeys(base, next);
    },
    async close() {
      upkeep.close();
      await desired.close();
    },
  };
}

/** Whether the service refuses the task, and no earlier task continues. */
function isRejected({ problem, session }: LaneState): boolean {
  return session.kind === 'parked' && problem?.code === 'task_rejected';
}

/** The configured keys of a lane that the service refuses. Refusals of a command are in its own answer. */
function refusedOf(lane: LaneConfig, state: LaneState | undefined): RefusedKeys[] {
  if (state === undefined) return [];
  const { refusedTask, options, problem } = state;
  const message = refusedTask?.message ?? (isRejected(state) ? problem?.message : undefined);
  if (message === undefined) return [];
  const keys = TASK_KEYS.filter(
    (key) =>
      (refusedTask === null || key in refusedTask.instead) &&
      JSON.stringify(lane[key]) === JSON.stringify(options[key]),
  );
  return keys.length === 0 ? [] : [{ lane: lane.id, keys, message: `the service says: ${message}` }];
}
