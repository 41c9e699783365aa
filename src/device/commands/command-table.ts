import type { z } from 'zod';
import type {
  CommandDefinition,
  CommandDefinitions,
} from '../../protocol/mqtt/commands/command-definition.ts';
import type { COMMANDS } from '../../protocol/mqtt/commands/registry.ts';
import { CommandError, type CommandFault } from './command-request.ts';

/**
 * The handler of each command: returns the `data` of its answer, or throws a `CommandError`. If it returns a promise, the
 * dispatcher answers `accepted` first.
 */
export type CommandHandlers<D extends CommandDefinitions = typeof COMMANDS> = {
  readonly [N in keyof D]: (args: z.infer<D[N]['args']>) => unknown;
};

/** What the commands of an agent take, by name. */
export type CommandShapes = ReadonlyMap<string, { readonly definition: CommandDefinition }>;

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

export type CheckedArgs =
  | {
      readonly ok: true;
      readonly args: unknown;
      /** The command changes nothing: carrying it out twice does no harm. */
      readonly isReadOnly: boolean;
    }
  | { readonly ok: false; readonly fault: CommandFault };

/** Checks the arguments of a command against its definition. */
export function checkArgs(commands: CommandShapes, name: string, args: unknown): CheckedArgs {
  const command = commands.get(name);
  if (command === undefined) {
    const known = [...commands.keys()].join(', ');
    const message = `there is no command "${name.slice(0, 40)}"; there are ${known}`;
    return { ok: false, fault: { code: 'unknown_command', message } };
  }
  const { definition } = command;
  const parsed = definition.args.safeParse(args);
  if (parsed.success) return { ok: true, args: parsed.data, isReadOnly: definition.isReadOnly === true };
  const issues = parsed.error.issues.slice(0, 5).map((issue) => {
    const field = issue.path.join('.');
    return field === '' ? issue.message : `${field}: ${issue.message}`;
  });
  return { ok: false, fault: { code: 'invalid_args', message: issues.join('; ').slice(0, 500) } };
}

/** A command with checked arguments, to be carried out. @throws CommandError */
export function prepare(table: CommandTable, name: string, args: unknown): { carryOut(): unknown } {
  const checked = checkArgs(table, name, args);
  if (!checked.ok) throw new CommandError(checked.fault.code, checked.fault.message);
  return { carryOut: () => table.get(name)?.handle(checked.args) };
}
