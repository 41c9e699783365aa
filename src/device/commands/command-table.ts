import type { z } from 'zod';
import type {
  CommandDefinition,
  CommandDefinitions,
} from '../../protocol/mqtt/commands/command-definition.ts';
import type { COMMANDS } from '../../protocol/mqtt/commands/registry.ts';
import { CommandError } from './command-request.ts';

/**
 * The handler of each command: returns the `data` of its answer, or throws a `CommandError`. If it returns a promise, the
 * dispatcher answers `accepted` first.
 */
export type CommandHandlers<D extends CommandDefinitions = typeof COMMANDS> = {
  readonly [N in keyof D]: (args: z.infer<D[N]['args']>) => unknown;
};

/** The commands of an agent by name: definitions with their handlers. */
export type CommandTable = ReadonlyMap<
  string,
  { readonly definition: CommandDefinition; handle(args: unknown): unknown }
>;

export function bindCommands<D extends CommandDefinitions>(
  definitions: D,
  handlers: CommandHandlers<D>,
): CommandTable {
  const rows = Object.entries(definitions).map(([name, definition]) => {
    // The argument comes from the schema of the same definition.
    const handle = handlers[name] as (args: unknown) => unknown;
    return [name, { definition, handle }] as const;
  });
  return new Map(rows);
}

/** A command with checked arguments. */
export interface ReadyCommand {
  /** The command changes nothing: carrying it out twice does no harm. */
  readonly isReadOnly: boolean;
  carryOut(): unknown;
}

/** @throws CommandError */
export function prepare(table: CommandTable, name: string, args: unknown): ReadyCommand {
  const command = table.get(name);
  if (command === undefined) {
    const known = [...table.keys()].join(', ');
    throw new CommandError(
      'unknown_command',
      `there is no command "${name.slice(0, 40)}"; there are ${known}`,
    );
  }
  const { definition, handle } = command;
  const parsed = definition.args.safeParse(args);
  if (!parsed.success) {
    const issues = parsed.error.issues.slice(0, 5).map((issue) => {
      const field = issue.path.join('.');
      return field === '' ? issue.message : `${field}: ${issue.message}`;
    });
    throw new CommandError('invalid_args', issues.join('; ').slice(0, 500));
  }
  return { isReadOnly: definition.isReadOnly === true, carryOut: () => handle(parsed.data) };
}
