import type { z } from 'zod';
import { reportedSchema } from '../src/protocol/config-reported.ts';
import { certificateRequestSchema } from '../src/protocol/mqtt/certificate.ts';
import { commandResponseSchema } from '../src/protocol/mqtt/command.ts';
import { stateSchema, statusSchema } from '../src/protocol/mqtt/device.ts';
import { EVENT_KINDS, EVENT_SCHEMAS } from '../src/protocol/mqtt/event.ts';
import { healthSchema } from '../src/protocol/mqtt/health.ts';
import { logSchema } from '../src/protocol/mqtt/log.ts';
import { tokenRequestSchema } from '../src/protocol/mqtt/token.ts';

const SCHEMAS: readonly (readonly [topic: RegExp, schema: z.ZodType])[] = [
  [/\/status$/, statusSchema.strict()],
  [/\/state$/, stateSchema.strict()],
  [/\/health$/, healthSchema.strict()],
  [/\/log$/, logSchema.strict()],
  [/\/config\/reported$/, reportedSchema.strict()],
  [/\/cmd\/[^/]+\/res$/, commandResponseSchema.strict()],
  [/\/token\/req$/, tokenRequestSchema],
  // Null: the retained message is removed.
  [/\/cert\/req$/, certificateRequestSchema.nullable()],
  ...EVENT_KINDS.map((kind) => [new RegExp(`/event/${kind}$`), EVENT_SCHEMAS[kind]] as const),
];

/** @returns the error in a device's message by the schemas of docs/mqtt.md; null if it is valid */
export function wrongWith(topic: string, body: unknown): string | null {
  const found = SCHEMAS.find(([pattern]) => pattern.test(topic));
  if (found === undefined) return `${topic}: docs/mqtt.md has no such topic`;
  const [issue] = found[1].safeParse(body).error?.issues ?? [];
  return issue === undefined ? null : `${topic}: ${issue.path.join('.')}: ${issue.message}`;
}
