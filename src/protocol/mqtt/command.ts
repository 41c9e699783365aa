import { z } from 'zod';
import { ECHO_MODES, VOLUME_PERCENT } from '../config.ts';
import { languageSchema, targetsSchema } from '../language.ts';
import { checkNameSchema } from './diagnose.ts';
import { requestIdSchema, timestampSchema } from './envelope.ts';
import { nameSchema } from './topics.ts';

/** `{p}/cmd/{name}`, operator to device. `not_after` is the moment from which the command must not be carried out. */
export const commandRequestSchema = z.looseObject({
  ts: timestampSchema.optional(),
  id: requestIdSchema,
  args: z.record(z.string(), z.unknown()).default({}),
  not_after: z.iso.datetime({ offset: true }).nullish(),
});
export type CommandRequest = z.infer<typeof commandRequestSchema>;

export const COMMAND_STATUSES = ['accepted', 'ok', 'error', 'expired'] as const;

/** `{p}/cmd/{name}/res`: `accepted` may come first; then exactly one of the others per id. */
export const commandResponseSchema = z.object({
  ts: timestampSchema,
  id: requestIdSchema,
  status: z.enum(COMMAND_STATUSES),
  error: z.object({ code: z.string(), message: z.string() }).optional(),
  data: z.unknown().optional(),
});
export type CommandResponse = z.infer<typeof commandResponseSchema>;

/** Which lane a command is for; all lanes when it names none. */
const lane = { lane: nameSchema.optional() };

/** Arguments of each command this version carries out. `strictObject`: a misspelt argument is an error, not ignored. */
export const COMMAND_ARGS = {
  start: z.strictObject(lane),
  stop: z.strictObject(lane),
  mute: z.strictObject(lane),
  unmute: z.strictObject(lane),
  languages: z
    .strictObject({
      ...lane,
      source: languageSchema.optional(),
      targets: targetsSchema.optional(),
    })
    .refine(
      (args) => args.source !== undefined || args.targets !== undefined,
      'needs "source", "targets" or both',
    ),
  volume: z.strictObject({ ...lane, percent: z.int().min(VOLUME_PERCENT.min).max(VOLUME_PERCENT.max) }),
  echo: z.strictObject({ ...lane, mode: z.enum(ECHO_MODES) }),
  status: z.strictObject({}),
  diagnose: z.strictObject({ only: z.array(checkNameSchema).min(1).optional() }),
} as const;
export type CommandName = keyof typeof COMMAND_ARGS;

/** Spread in seconds of a fan-out over the fleet: each device waits a random part of it. */
export const FLEET_SPREAD_S = { key: 'spread_s', max: 3600 } as const;
