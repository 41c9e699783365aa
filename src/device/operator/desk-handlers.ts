import type { DESK_COMMANDS } from '../../protocol/mqtt/commands/desk-commands.ts';
import { CommandError } from '../commands/command-request.ts';
import type { CommandHandlers } from '../commands/command-table.ts';
import type { Help } from '../help/help.ts';
import type { LaneRunner } from '../lane/runner/lane-runner.ts';
import { opensByKey, turnsByKey } from '../lane/two-way/two-way.ts';
import { brief, chooseLanes } from './lane-handlers.ts';

/** The handlers of commands for two people at one desk. */
export function createDeskHandlers(
  lanes: readonly LaneRunner[],
  help: Pick<Help, 'command'>,
  menu: CommandHandlers['menu'],
): CommandHandlers<typeof DESK_COMMANDS> {
  return {
    turn({ lane: id, speaker, held = true }) {
      const chosen = chooseLanes(lanes, id);
      const turning = chosen.filter(
        ({ state }) => turnsByKey(state) || (speaker === 'source' && opensByKey(state)),
      );
      if (turning.length === 0)
        throw new CommandError(
          'invalid_args',
          `no key decides who speaks on ${chosen.map((one) => `"${one.id}"`).join(', ')}: set "twoWay" to "button" or "hold", or "pushToTalk" for "source" alone`,
        );
      for (const lane of turning) lane.post({ type: 'turn', speaker, held });
      return brief(turning);
    },
    help(args) {
      chooseLanes(lanes, args.lane);
      return help.command(args);
    },
    menu,
  };
}
