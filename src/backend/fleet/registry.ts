/** The commands and the desired configuration as data for forms, generated from the schemas that validate them. */
import * as z from 'zod';
import { desiredSchema } from '../../protocol/config.ts';
import type { CommandForm, JsonSchema, Registry } from '../../protocol/console-jobs.ts';
import type { CommandDefinition } from '../../protocol/mqtt/commands/command-definition.ts';
import { COMMANDS } from '../../protocol/mqtt/commands/registry.ts';

const UNSIGNED =
  'Devices with owner keys refuse it: this backend has no owner key (signingKeyFile), so it cannot sign.';

export function makeRegistry(signs: boolean): Registry {
  const commands = Object.entries(COMMANDS).map(
    ([name, definition]: [string, CommandDefinition]): CommandForm => {
      const args = schemaOf(definition.args);
      const says = typeof args['description'] === 'string' ? args['description'] : '';
      return {
        name,
        role: definition.role,
        isReadOnly: definition.isReadOnly === true,
        args,
        says: definition.verb?.says ?? says,
        example: { ...definition.example },
        note: definition.mustBeSigned === true && !signs ? UNSIGNED : null,
      };
    },
  );
  return { commands, desired: schemaOf(desiredSchema), signs };
}

function schemaOf(schema: z.ZodType): JsonSchema {
  return z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' });
}
