import type { z } from 'zod';
import type { CommandDefinition } from './command-definition.ts';
import { DESK_COMMANDS } from './desk-commands.ts';
import { DEVICE_COMMANDS } from './device-commands.ts';
import { LANE_COMMANDS } from './lane-commands.ts';

/**
 * Every command that this version carries out. The agent, `dragoman ctl`, the roles at the broker and docs/mqtt.md use
 * this list: a new command needs a definition here and a handler. Most handlers are in
 * src/device/operator.
 */
export const COMMANDS = { ...LANE_COMMANDS, ...DESK_COMMANDS, ...DEVICE_COMMANDS } as const;
export type CommandName = keyof typeof COMMANDS;
export type CommandArgs<N extends CommandName> = z.infer<(typeof COMMANDS)[N]['args']>;

/** Null: this version has no such command. */
export function commandNamed(name: string): CommandDefinition | null {
  return Object.hasOwn(COMMANDS, name)
    ? ((COMMANDS as Readonly<Record<string, CommandDefinition>>)[name] ?? null)
    : null;
}
