import type { Config, LaneConfig } from '../protocol/config.ts';
import type { LaneRunner } from './lane/lane-runner.ts';
import { CommandError } from './owner/command-request.ts';
import { createDesiredConfig, type DesiredConfig, type DesiredConfigDeps } from './owner/desired-config.ts';
import { type TaskResultDeps, taskResult } from './owner/task-result.ts';
import { mergeRunning, optionsAgain, restartKeys } from './reload.ts';

/** Of these the service has to be told. */
const TASK_KEYS = ['source', 'targets', 'voice'] as const;

export interface RunningConfigDeps extends Omit<DesiredConfigDeps, 'apply'>, TaskResultDeps {
  lane(id: string): LaneRunner | undefined;
  setLogLevel?: ((level: Config['log']['level']) => void) | undefined;
  /** Something of it has changed. */
  changed(): void;
}

/** The configuration that is in force, and how changes of it reach the lanes without a restart. */
export interface RunningConfig {
  readonly current: Config;
  readonly desired: DesiredConfig;
  /** The device's own configuration was read again. Returns the keys that need a restart. */
  apply(next: Config): string[];
}

export function createRunningConfig(deps: RunningConfigDeps): RunningConfig {
  const desired = createDesiredConfig({ ...deps, apply: (next) => put(next) });
  let base = deps.base;
  let current = desired.config;
  deps.setLogLevel?.(current.log.level);

  const put = (next: Config): void => {
    for (const lane of next.lanes) {
      putLane(
        lane,
        current.lanes.find(({ id }) => id === lane.id),
      );
    }
    if (next.log.level !== current.log.level) deps.setLogLevel?.(next.log.level);
    current = mergeRunning(current, next);
    deps.changed();
  };
  const putLane = (next: LaneConfig, before: LaneConfig | undefined): void => {
    const options = optionsAgain(before, next);
    const runner = deps.lane(next.id);
    if (runner === undefined || Object.keys(options).length === 0) return;
    const state = runner.state;
    runner.post({ type: 'options', options });
    const keys = TASK_KEYS.filter((name) => name in options);
    if (keys.length === 0) return;
    const result = taskResult(runner, state, deps);
    if (!(result instanceof Promise)) return;
    result.catch((error: unknown) => {
      const message = error instanceof Error ? error.message : 'it failed';
      // Another change came meanwhile, and is judged by itself.
      if (error instanceof CommandError && error.code === 'superseded') return;
      desired.rejected(next.id, keys, message);
    });
  };

  return {
    get current() {
      return current;
    },
    desired,
    apply(next) {
      const stale = restartKeys(base, next);
      base = next;
      desired.rebase(next);
      return stale;
    },
  };
}
