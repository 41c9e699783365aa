import type { Clock } from '../../ports/clock.ts';
import type { Host } from '../../ports/host.ts';
import { asWall } from '../../protocol/common/time.ts';
import { timestamp } from '../../protocol/mqtt/envelope.ts';
import { CommandError } from '../commands/command-request.ts';
import type { CommandHandlers } from '../commands/command-table.ts';
import type { LaneRunner } from '../lane/runner/lane-runner.ts';
import { chooseLanes } from './lane-handlers.ts';
import type { LogLevel } from './log-level.ts';
import type { LogStream } from './log-stream.ts';

/** Delay of the restart (ms): the answer leaves first. */
const RESTART_AFTER_MS = 1000;
/** Interval between chimes (ms). */
const CHIME_EACH_MS = 1500;
const IDENTIFY_S = 10;

export interface DeviceHandlersDeps {
  readonly clock: Clock;
  readonly lanes: readonly LaneRunner[];
  readonly logs: LogStream;
  readonly logLevel: LogLevel;
  /** Null without a machine that can be restarted. */
  readonly host: Host | null;
}

type Handled = Pick<CommandHandlers, 'log_level' | 'log_stream' | 'restart' | 'reboot' | 'identify'>;

export interface DeviceHandlers extends Handled {
  close(): void;
}

/** The handlers of commands about the device itself, and of `identify`, whose chimes go on after its answer. */
export function createDeviceHandlers(deps: DeviceHandlersDeps): DeviceHandlers {
  const { clock, logs, logLevel, host } = deps;
  let cancelChimes = (): void => {};
  const until = (monotonic: number): string | null => {
    const wall = clock.wall();
    return timestamp(wall === null ? null : asWall(wall + (monotonic - clock.now())));
  };
  return {
    log_level({ level, minutes }) {
      const endsAt = minutes === undefined ? null : clock.now() + minutes * 60_000;
      logLevel.change(level, endsAt);
      return { level, until: endsAt === null ? null : until(endsAt) };
    },
    log_stream({ minutes, level }) {
      const endsAt = logs.run(minutes, level);
      return { level, until: endsAt === null ? null : until(endsAt) };
    },
    restart() {
      const problem = host === null ? 'no supervisor would start it again' : host.restartProblem();
      if (problem !== null) throw new CommandError('unsupported', problem);
      clock.at(clock.now() + RESTART_AFTER_MS, () => host?.restart());
      return { in_ms: RESTART_AFTER_MS };
    },
    reboot() {
      const problem = host === null ? 'there is no machine to reboot' : host.reboot();
      if (problem !== null) throw new CommandError('unsupported', problem);
      return {};
    },
    identify({ lane, seconds = IDENTIFY_S }) {
      const lanes = chooseLanes(deps.lanes, lane);
      cancelChimes();
      const endsAt = clock.now() + seconds * 1000;
      const chime = (): void => {
        for (const one of lanes) one.post({ type: 'chime', earcon: 'identify' });
        const next = clock.now() + CHIME_EACH_MS;
        if (next < endsAt) cancelChimes = clock.at(next, chime);
      };
      chime();
      return { lanes: lanes.map(({ id }) => id), until: until(endsAt) };
    },
    close: () => cancelChimes(),
  };
}
