import { describeUnit } from '../../core/unit-status.ts';
import { createThrottle } from '../../machine/throttle.ts';
import { within } from '../../machine/within.ts';
import type { Clock } from '../../ports/clock.ts';
import type { InitSystem } from '../../ports/init-system.ts';
import type { Log } from '../../ports/log.ts';
import type { LaneRunner, LaneStep } from '../lane/runner/lane-runner.ts';
import { taskOf } from '../lane/state/lane-options.ts';
import type { Publisher } from '../status/publisher.ts';
import type { Observed } from './observed-deps.ts';
import { type LaneProgress, stuckLanes } from './progress.ts';

/**
 * Longest wait for devices and broker (ms). After it, even a kiosk without a network counts as ready, and reports what
 * is missing.
 */
const READY_LIMIT_MS = 15_000;
/** Shortest interval of the status line (ms), as that of `{p}/state`. */
const STATUS_INTERVAL_MS = 1000;
/** Signs of life per watchdog timeout of the init system. */
const SIGNS = 3;

/** The agent, as the init system sees it. */
export interface WatchedAgent {
  readonly lanes: readonly LaneRunner[];
  readonly publisher: Pick<Publisher, 'status' | 'watch' | 'condition'>;
  watch(listener: (step: LaneStep) => void): () => void;
}

export interface WatchdogParts {
  readonly agent: WatchedAgent;
  readonly observed: Observed;
  readonly initSystem: InitSystem;
  readonly clock: Clock;
  readonly log: Log;
}

/** The agent's side of the protocol with its supervisor. */
export interface Watchdog {
  /** The agent has started: reports `ready` once everything has been tried. */
  started(): Promise<void>;
  /** Called before the configuration is read again, and `reloaded` after it. */
  reloading(): void;
  reloaded(): void;
  /** Whether the agent uses too much memory. */
  large(isLarge: boolean): void;
  stopping(): void;
}

/** Reports the agent's status to the init system, and signs of life only while it makes progress. */
export function startWatchdog({ agent, observed, initSystem, clock, log }: WatchdogParts): Watchdog {
  let stuck: readonly string[] = [];
  let last = '';
  let isReady = false;
  let isEnding = false;
  const describe = (): string => {
    const { status, reasons } = agent.publisher.status();
    const lanes = agent.lanes.map(({ id, phase, state }) => ({ id, phase, ...taskOf(state) }));
    return describeUnit({
      status,
      reasons,
      broker: observed.broker,
      lanes,
      stuck,
      isClockSet: clock.wall() !== null,
    });
  };
  const status = createThrottle(clock, STATUS_INTERVAL_MS, () => {
    const text = describe();
    if (!isReady || isEnding || text === last) return;
    last = text;
    initSystem.tell({ status: text });
  });
  const look = (): void => {
    if (initSystem.listens) status.request();
  };
  const unwatch = [
    agent.watch((step) => {
      observed.onStep(step);
      look();
    }),
    // The broker, or time alone, can change the status without a step.
    agent.publisher.watch(look),
  ];
  const watchdog = watchProgress(observed, initSystem, clock, (lanes, judged) => {
    if (lanes.length > 0 && stuck.length === 0)
      log.error(
        { lanes, seconds: judged / 1000 },
        'no sound arrives although the microphone is connected; systemd will restart the agent',
      );
    stuck = lanes;
    status.request();
  });
  return {
    async started() {
      if (!initSystem.listens) return;
      await within(clock, READY_LIMIT_MS, new Promise<void>((resolve) => observed.whenTried(resolve)));
      if (isEnding) return;
      isReady = true;
      last = describe();
      initSystem.tell({ ready: true, status: last });
    },
    large(isLarge) {
      agent.publisher.condition('memory', isLarge);
    },
    reloading: () => initSystem.tell({ reloading: true }),
    reloaded() {
      last = describe();
      initSystem.tell({ ready: true, status: last });
    },
    stopping() {
      isEnding = true;
      watchdog.end();
      status.cancel();
      for (const stop of unwatch) stop();
      initSystem.tell({ stopping: true, status: 'stopping: ending the sessions' });
    },
  };
}

/** Sends signs of life, unless a lane is stuck. */
function watchProgress(
  observed: Observed,
  initSystem: InitSystem,
  clock: Clock,
  judged: (stuck: readonly string[], intervalMs: number) => void,
): { end(): void } {
  const { watchdogMs } = initSystem;
  if (watchdogMs === null) return { end() {} };
  const intervalMs = watchdogMs / SIGNS;
  let before: readonly LaneProgress[] = [];
  let cancel = (): void => {};
  const arm = (): void => {
    cancel = clock.at(clock.now() + intervalMs, () => {
      const after = observed.progress();
      const stuck = stuckLanes(before, after);
      before = after;
      arm();
      judged(stuck, intervalMs);
      if (stuck.length === 0) initSystem.tell({ alive: true });
    });
  };
  arm();
  return { end: () => cancel() };
}
