import { CommandError } from '../commands/command-request.ts';
import { type CommandTable, prepare } from '../commands/command-table.ts';
import type { LaneRunner } from '../lane/runner/lane-runner.ts';
import type { Conversations } from './conversations.ts';
import { isRunning } from './desk-rules.ts';

/** Commands that begin a conversation when given by a key. By touch, every command but `help` begins one: a visitor may call staff while nothing interprets. */
const BEGINS: readonly string[] = ['turn', 'languages', 'volume', 'unmute'];

const STAYS: readonly string[] = ['help', 'menu'];

/** Carries out a command that is given at the desk. @throws CommandError, at once or later */
export type CarryOut = (name: string, args: object) => unknown;

/** Carries out commands by key or touch as over MQTT; most of them also begin a conversation. */
export function commandsByHand(
  by: 'key' | 'touch',
  table: CommandTable,
  lanes: readonly LaneRunner[],
  conversations: Pick<Conversations, 'begin'>,
): CarryOut {
  return (name, args) => {
    const command = prepare(table, name, args);
    const { lane, do: what, held }: { lane?: unknown; do?: unknown; held?: unknown } = args;
    const isPress = (by === 'touch' && name !== 'help') || BEGINS.includes(name);
    // A release does not begin a conversation: the press has done so, and a closing page also releases its button.
    const begins = name === 'conversation' ? what === 'begin' : isPress && held !== false;
    const named = lane === undefined ? lanes : lanes.filter(({ id }) => id === lane);
    // Without a conversation, nothing would undo a visitor's changes.
    if (by === 'touch' && begins && !named.some(({ state }) => isRunning(state)))
      throw new CommandError('stopped', 'the kiosk is not interpreting now');
    // Must come before the command, so that the end of the conversation undoes the command's changes.
    if (begins) conversations.begin(named, by);
    // A visitor who calls staff, or uses the spoken menu, is still there.
    if (STAYS.includes(name))
      conversations.begin(
        named.filter(({ state }) => state.conversation !== null),
        by,
      );
    return command.carryOut();
  };
}
