import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { configSchema } from '../../src/protocol/config.ts';
import { reportedSchema } from '../../src/protocol/config-reported.ts';
import { certificateRequestSchema } from '../../src/protocol/mqtt/certificate.ts';
import { commandResponseSchema } from '../../src/protocol/mqtt/command.ts';
import { COMMANDS } from '../../src/protocol/mqtt/commands/registry.ts';
import { stateSchema, statusSchema } from '../../src/protocol/mqtt/device.ts';
import { EVENT_KINDS, EVENT_SCHEMAS } from '../../src/protocol/mqtt/event.ts';
import { healthSchema } from '../../src/protocol/mqtt/health.ts';
import { logSchema } from '../../src/protocol/mqtt/log.ts';
import { tokenRequestSchema } from '../../src/protocol/mqtt/token.ts';

/** All messages that a device publishes. */
const PUBLISHED: readonly (readonly [name: string, schema: z.ZodType])[] = [
  ['status', statusSchema],
  ['state', stateSchema],
  ['health', healthSchema],
  ['log', logSchema],
  ['config/reported', reportedSchema],
  ['cmd/+/res', commandResponseSchema],
  ['token/req', tokenRequestSchema],
  ['cert/req', certificateRequestSchema],
  ...EVENT_KINDS.map((kind) => [`event/${kind}`, EVENT_SCHEMAS[kind]] as const),
  ...Object.entries(COMMANDS).map(([name, { data: schema }]) => [`the answer to ${name}`, schema] as const),
];
const SNAKE = /^[a-z][a-z0-9]*(_[a-z0-9]+)*$/;

/** All names in a schema, with their paths. */
function namesIn(schema: unknown, way: string): string[] {
  if (typeof schema !== 'object' || schema === null) return [];
  return Object.entries(schema).flatMap(([key, part]) => {
    const names =
      key === 'properties' && typeof part === 'object' && part !== null
        ? Object.keys(part).map((name) => `${way} ${name}`)
        : [];
    return [...names, ...namesIn(part, way)];
  });
}

const namesOf = (schema: z.ZodType, way: string): string[] =>
  namesIn(z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' }), way);
const lastWord = (found: string): string => found.split(' ').at(-1) ?? '';
/** Keys of the configuration keep their spelling from the file. */
const CONFIGURATION = new Set(namesOf(configSchema, '').map(lastWord));

describe('a published message', () => {
  it.each(PUBLISHED)('%s has names in snake_case', (name, schema) => {
    const odd = namesOf(schema, name).filter((found) => !SNAKE.test(lastWord(found)));
    const known = name === 'config/reported' ? odd.filter((found) => CONFIGURATION.has(lastWord(found))) : [];
    expect(odd).toEqual(known);
  });

  it('is checked by its names', () => {
    const schema = z.object({ a: z.array(z.object({ badName: z.string() })), good_name: z.string() });
    expect(namesIn(z.toJSONSchema(schema), 'x')).toEqual(['x a', 'x good_name', 'x badName']);
  });
});
