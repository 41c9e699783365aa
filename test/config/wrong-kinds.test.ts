import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import type { z } from 'zod';
import { parseJsonc } from '../../src/adapters/config/jsonc.ts';
import { backendConfigSchema } from '../../src/protocol/backend-config.ts';
import { configSchema, desiredSchema } from '../../src/protocol/config.ts';
import { ctlProfilesSchema } from '../../src/protocol/ctl-profiles.ts';
import { provisioningSchema } from '../../src/protocol/provisioning.ts';

/** Values of a wrong kind. */
const WRONG: readonly unknown[] = [null, true, 0, -1, 'x', '', [], [null], [[]], ['x'], {}, { x: {} }];

/** Copies of the value, each with one part replaced by a wrong kind. */
function* spoiled(value: unknown): Generator<unknown> {
  yield* WRONG;
  if (Array.isArray(value)) {
    for (const [index, part] of value.entries())
      for (const other of spoiled(part)) yield value.with(index, other);
  } else if (typeof value === 'object' && value !== null) {
    for (const [key, part] of Object.entries(value))
      for (const other of spoiled(part)) yield { ...value, [key]: other };
  }
}

function readExample(name: string): unknown {
  const text = readFileSync(fileURLToPath(new URL(`../../config/${name}`, import.meta.url)), 'utf8');
  const parsed = parseJsonc(text);
  if (!parsed.ok) throw new Error(`${name} cannot be read`);
  return parsed.value;
}

const LANE = { id: 'main', source: 'en', targets: ['es'], voice: null, echo: 'off', standbyAfter: 60 };
const WEEK = { timeZone: 'Europe/Madrid', weekly: [{ days: ['mon'], open: '09:00', close: '18:00' }] };
const DOORS: readonly (readonly [name: string, schema: z.ZodType, value: unknown])[] = [
  ['config/example.jsonc', configSchema, readExample('example.jsonc')],
  ['config/files.jsonc', configSchema, readExample('files.jsonc')],
  ['config/backend.jsonc', backendConfigSchema, readExample('backend.jsonc')],
  ['config/desired', desiredSchema, { lanes: [LANE, LANE], schedule: WEEK, budget: { minutesPerDay: 5 } }],
  [
    'profiles of ctl',
    ctlProfilesSchema,
    { profiles: { a: { url: 'mqtts://a', tenant: 'a' } }, default: 'a' },
  ],
  ['a provisioning file', provisioningSchema, { config: readExample('files.jsonc'), wifi: [{ ssid: 'a' }] }],
];

describe.each(DOORS)('%s with a part of another kind', (_, schema, value) => {
  it('is accepted or refused, and never causes a program error', () => {
    const thrown = [...spoiled(value)].flatMap((given) => {
      try {
        schema.safeParse(given);
        return [];
      } catch (error) {
        return [`${String(error)}: ${JSON.stringify(given).slice(0, 300)}`];
      }
    });
    expect(thrown).toEqual([]);
  });
});
