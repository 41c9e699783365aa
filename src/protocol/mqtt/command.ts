import * as z from 'zod';
import { sentence, word } from './bounds.ts';
import { requestIdSchema, timestampSchema } from './envelope.ts';

/** `{p}/cmd/{name}`, operator to device. The device does not run the command at or after `not_after`. */
export const commandRequestSchema = z.looseObject({
  ts: timestampSchema.optional().describe('time of sending; ignored'),
  id: requestIdSchema.describe('chosen by the operator, unique per command'),
  args: z.record(z.string(), z.unknown()).default({}).describe('arguments'),
  not_after: z.iso
    .datetime({ offset: true })
    .nullish()
    .describe('at or after this time the device answers `expired` and does not run the command'),
});
export type CommandRequest = z.infer<typeof commandRequestSchema>;

export const COMMAND_STATUSES = ['accepted', 'ok', 'error', 'expired'] as const;

/** `{p}/cmd/{name}/res`: optionally `accepted`, then exactly one of the others per id. */
export const commandResponseSchema = z.object({
  ts: timestampSchema.describe('time of the answer; null while the clock is not set'),
  id: requestIdSchema.describe("the command's id"),
  status: z.enum(COMMAND_STATUSES).describe('optionally `accepted`, then exactly one of the others'),
  error: z
    .object({
      code: word.describe('see [Errors](#errors)'),
      message: sentence.describe('description for people'),
    })
    .optional()
    .describe('only with the status `error`'),
  note: sentence.optional().describe('a warning beside the result: its record is not on the disk yet'),
  data: z.unknown().optional().describe('result of the command'),
});
export type CommandResponse = z.infer<typeof commandResponseSchema>;

/** Spread (seconds) of a command to many devices: each device waits a random time up to this. */
export const FLEET_SPREAD_S = { key: 'spread_s', max: 3600 } as const;
