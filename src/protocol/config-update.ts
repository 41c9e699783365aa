import * as z from 'zod';
import { timeOfDaySchema } from './config-hours.ts';

/** When the agent may be restarted for an update. */
export const updateWindowSchema = z
  .strictObject({
    from: timeOfDaySchema.describe('Begin, local time.'),
    to: timeOfDaySchema.describe('End; on the next day if not later than "from".'),
  })
  .nullable()
  .describe(
    'Times of day at which an update may restart the agent; null: at any time. The update waits for a pause in speech and conversation, for a day at most.',
  );
export type UpdateWindow = z.infer<typeof updateWindowSchema>;

export const updateConfigSchema = z
  .strictObject({ window: updateWindowSchema.default(null) })
  .prefault({})
  .describe('Updates of the agent (docs/updates.md).');
