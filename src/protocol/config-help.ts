/** The part `help` of the configuration. */
import * as z from 'zod';

const ANSWER_WITHIN_S = { min: 30, max: 3600, default: 120 } as const;

export const answerWithinSchema = z
  .number()
  .min(ANSWER_WITHIN_S.min)
  .max(ANSWER_WITHIN_S.max)
  .nullable()
  .describe(
    'Seconds after which a visitor whose call is unanswered is sent to the desk; null: visitors cannot call staff.',
  );

export const helpSchema = z
  .strictObject({ answerWithin: answerWithinSchema.default(ANSWER_WITHIN_S.default) })
  .prefault({})
  .describe('Calls of visitors for a member of staff.');
