import type { Clock } from '../../ports/clock.ts';
import type { Log } from '../../ports/log.ts';
import type { StateFile } from '../../ports/state-file.ts';
import { type DeviceAddress, deviceTopics } from '../../protocol/mqtt/topics.ts';
import { type CommandDispatcher, createCommandDispatcher } from '../commands/command-dispatcher.ts';
import { createCommandRecord } from '../commands/command-record.ts';
import { CommandError, type CommandHandlers } from '../commands/command-request.ts';
import { createCommandSignatures } from '../commands/command-signature.ts';
import { createRepeatFilter } from '../repeat-filter.ts';

export interface RefusingDispatcherDeps {
  readonly address: DeviceAddress;
  readonly groups: readonly string[];
  readonly clock: Clock;
  readonly log: Log;
  /** The device's own, so that an id means the same after the repair. */
  readonly commandFile: StateFile | null;
  /** Why nothing can be carried out. */
  problem(): string;
  /** The answer to `status`, which is carried out all the same. */
  status(): unknown;
}

/** Answers the commands to a device that has no usable configuration. */
export function createRefusingDispatcher(deps: RefusingDispatcherDeps): CommandDispatcher {
  const { address, groups, clock, log, commandFile, problem, status } = deps;
  const repeats = createRepeatFilter(clock);
  const refuse = (): never => {
    throw new CommandError('config', `the configuration cannot be used and nothing runs: ${problem()}`);
  };
  const handlers: CommandHandlers = {
    ...{ start: refuse, stop: refuse, mute: refuse, unmute: refuse, languages: refuse },
    ...{
      volume: refuse,
      echo: refuse,
      voice: refuse,
      say: refuse,
      identify: refuse,
      diagnose: refuse,
      status,
    },
    ...{ log_level: refuse, log_stream: refuse, restart: refuse, reboot: refuse },
    certificate: refuse,
  };
  const record = createCommandRecord(commandFile, clock, log);
  const topics = deviceTopics(address);
  const bases = [topics.base, topics.fleetBase, ...groups.map(topics.groupBase)];
  // Nothing is carried out: nobody needs to be believed.
  const signatures = createCommandSignatures(bases, clock, null);
  const dispatcher = createCommandDispatcher(
    { address, groups, topics, clock, log, random: Math.random, repeats, record, signatures },
    handlers,
  );
  return {
    ...dispatcher,
    close() {
      repeats.close();
      return dispatcher.close();
    },
  };
}
