/** The part `keys` of the configuration: what a key at the desk does. */
import * as z from 'zod';
import { plainTextSchema } from './common/plain-text.ts';
import { KEY_NAMES } from './key-names.ts';
import type { CommandDefinition } from './mqtt/commands/command-definition.ts';
import { COMMANDS } from './mqtt/commands/registry.ts';

const MOST_KEYS = 64;
const LONGEST_DEVICE = 256;

const DEFINITIONS: Readonly<Record<string, CommandDefinition>> = COMMANDS;
const isBindable = (name: string): boolean => DEFINITIONS[name]?.mustBeSigned !== true;
const BINDABLE = Object.keys(DEFINITIONS).filter(isBindable);

const actionSchema = z
  .strictObject({
    command: z
      .enum(BINDABLE, {
        error: ({ input }) =>
          typeof input === 'string' && !isBindable(input)
            ? 'must be another command: the owner signs this one, and a key cannot sign'
            : undefined,
      })
      .describe('A command, as over MQTT.'),
    args: z
      .record(z.string(), z.unknown())
      .default({})
      .describe('Its arguments, as in the reference of the commands.'),
  })
  .superRefine(({ command, args }, context) => {
    const issues = DEFINITIONS[command]?.args.safeParse(args).error?.issues ?? [];
    for (const { path, message } of issues)
      context.addIssue({ code: 'custom', path: ['args', ...path], message });
  })
  .describe('The command that the key sends.');

const keySchema = z
  .strictObject({
    device: plainTextSchema
      .max(LONGEST_DEVICE)
      .regex(/^\/./, 'must be a path such as "/dev/input/by-id/usb-...-event-kbd"')
      .describe('Input device; `dragoman devices --keys` shows it.'),
    key: z
      .enum(KEY_NAMES, {
        error: () =>
          'must be a key name of the kernel such as "KEY_F1" ("dragoman devices --keys" shows them)',
      })
      .describe('The key, by the name that the kernel gives it.'),
    on: z
      .enum(['press', 'hold'])
      .default('press')
      .describe(
        'press: the command at each press; hold: the command at the press, and its opposite at the release.',
      ),
    do: actionSchema,
  })
  .superRefine((key, context) => {
    if (key.on !== 'hold' || DEFINITIONS[key.do?.command]?.atRelease !== undefined) return;
    const message = `must be "press": "${key.do?.command}" has no opposite for the release of the key`;
    context.addIssue({ code: 'custom', path: ['on'], message });
  });

export const keysSchema = z
  .array(keySchema)
  .max(MOST_KEYS)
  .default([])
  .describe('Keys, buttons and foot switches at the desk.');
export type KeyBinding = z.infer<typeof keySchema>;
