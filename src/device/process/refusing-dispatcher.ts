import { createDefects } from '../../machine/defects.ts';
import { createEventLoop } from '../../machine/event-loop.ts';
import { createRepeatFilter } from '../../machine/repeat-filter.ts';
import { createRunner } from '../../machine/runner.ts';
import type { Clock } from '../../ports/clock.ts';
import type { Log } from '../../ports/log.ts';
import type { StateFile } from '../../ports/state-file.ts';
import type { CommandDefinitions } from '../../protocol/mqtt/commands/command-definition.ts';
import { COMMANDS } from '../../protocol/mqtt/commands/registry.ts';
import type { DeviceAddress } from '../../protocol/mqtt/topics.ts';
import { type CommandDispatcher, createCommandDispatcher } from '../commands/command-dispatcher.ts';
import { CommandError } from '../commands/command-request.ts';
import { bindCommands } from '../commands/command-table.ts';

export interface RefusingDispatcherDeps {
  readonly address: DeviceAddress;
  readonly groups: readonly string[];
  readonly clock: Clock;
  readonly log: Log;
  /** The device's own file, so that ids stay known after the repair. */
  readonly commandFile: StateFile | null;
  /** Why commands other than `status` cannot be carried out. */
  problem(): string;
  /** The answer to `status`, the only command that works. */
  status(): unknown;
}

/** Answers the commands to a device without a usable configuration. */
export function createRefusingDispatcher(deps: RefusingDispatcherDeps): CommandDispatcher {
  const { address, groups, clock, log, commandFile, problem, status } = deps;
  const repeats = createRepeatFilter(clock);
  const refuse = (): never => {
    throw new CommandError('config', `the configuration cannot be used and nothing runs: ${problem()}`);
  };
  const handlers = Object.fromEntries(Object.keys(COMMANDS).map((name) => [name, refuse]));
  const table = bindCommands<CommandDefinitions>(COMMANDS, { ...handlers, status });
  const { report } = createDefects(log, clock);
  const loop = createEventLoop((error) => report('event loop', error));
  const dispatcher = createCommandDispatcher(
    {
      address,
      groups,
      clock,
      log,
      random: Math.random,
      repeats,
      runner: createRunner({ clock, loop, defects: report }),
      file: commandFile,
      // No command is carried out, so no signature is needed.
      signatures: null,
    },
    table,
  );
  return {
    ...dispatcher,
    close() {
      repeats.close();
      return dispatcher.close();
    },
  };
}
