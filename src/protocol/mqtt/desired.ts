import { z } from 'zod';
import { LOG_LEVELS } from '../config.ts';
import { scheduleSchema } from '../config-hours.ts';
import { timestampSchema } from './envelope.ts';

/** `config/desired` is no longer than this, characters. */
export const LONGEST_DESIRED = 65_536;

const faultSchema = z.object({
  from: z.string().describe('whose document: `device` or `group:{name}`'),
  key: z.string().describe('the key, such as `lanes[0].targets`; empty: the whole document'),
  message: z.string().describe('why it was not taken'),
});
export type DesiredFault = z.infer<typeof faultSchema>;

const effectiveSchema = z.object({
  lanes: z.array(
    z.object({
      id: z.string().describe('the lane'),
      source: z.string().describe('as configured or desired, like everything here'),
      targets: z.array(z.string()).describe('likewise'),
      voice: z.string().nullable().describe('likewise'),
      echo: z.string().describe('likewise'),
      start: z.string().describe('likewise'),
      standbyAfter: z.number().describe('likewise'),
    }),
  ),
  schedule: scheduleSchema.nullable().describe('likewise; null: sessions may be opened at any time'),
  budget: z.object({
    minutesPerDay: z.number().nullable().describe('likewise; null: no limit'),
  }),
  log: z.object({ level: z.enum(LOG_LEVELS).describe('likewise') }),
});
export type EffectiveConfig = z.infer<typeof effectiveSchema>;

/** `{p}/config/reported`, retained. */
export const reportedSchema = z.object({
  ts: timestampSchema.describe('when it was sent; null while the clock is not set'),
  version: z
    .record(z.string(), z.number())
    .describe('of each document that is in force, by whose it is: `{"device": 3, "group:lobby": 7}`'),
  hash: z.string().describe('SHA-256, in hexadecimal, of `effective` in the form of RFC 8785'),
  effective: effectiveSchema.describe('every key that may be desired, as it is in force'),
  errors: z.array(faultSchema).describe('what was not taken'),
});
export type ReportedMessage = z.infer<typeof reportedSchema>;
