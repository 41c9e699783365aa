import * as z from 'zod';
import { LOG_LEVELS } from './common/setting-values.ts';
import { scheduleSchema } from './config-hours.ts';
import { updateWindowSchema } from './config-update.ts';
import { count, sentence, word } from './mqtt/bounds.ts';
import { timestampSchema } from './mqtt/envelope.ts';

/** Maximum length of `config/desired` (characters). */
export const LONGEST_DESIRED = 65_536;

const faultSchema = z.object({
  from: word.describe('source of the document: `device` or `group:{name}`'),
  key: sentence.describe('the key, such as `lanes[0].targets`; empty: the whole document'),
  message: sentence.describe('why it was rejected'),
});
export type DesiredFault = z.infer<typeof faultSchema>;

const effectiveSchema = z.object({
  lanes: z.array(
    z.object({
      id: word.describe('the lane'),
      source: word.describe('value in force'),
      targets: z.array(word).describe('value in force'),
      voice: word.nullable().describe('value in force'),
      echo: word.describe('value in force'),
      start: word.describe('value in force'),
      standbyAfter: count.describe('value in force'),
      volume: count.describe('value in force'),
    }),
  ),
  schedule: scheduleSchema.nullable().describe('value in force; null: no schedule'),
  budget: z.object({
    minutesPerDay: count.nullable().describe('value in force; null: no limit'),
  }),
  help: z.object({
    answerWithin: count.nullable().describe('value in force; null: visitors cannot call staff'),
  }),
  update: z.object({ window: updateWindowSchema.describe('value in force; null: no window') }),
  log: z.object({ level: z.enum(LOG_LEVELS).describe('value in force') }),
  screen: z.object({ operator: sentence.describe('value in force') }),
});
export type EffectiveConfig = z.infer<typeof effectiveSchema>;

/** `{p}/config/reported`, retained. */
export const reportedSchema = z.object({
  ts: timestampSchema.describe('time of sending; null while the clock is not set'),
  version: z
    .record(z.string(), z.number())
    .describe('version of each document in force, by source: `{"device": 3, "group:lobby": 7}`'),
  hash: word.describe('SHA-256 (hexadecimal) of `effective` in canonical JSON (RFC 8785)'),
  effective: effectiveSchema.describe('all keys that `config/desired` may contain, with the values in force'),
  errors: z.array(faultSchema).describe('rejected keys and documents'),
});
export type ReportedMessage = z.infer<typeof reportedSchema>;
