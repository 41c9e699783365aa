import { z } from 'zod';
import { timestampSchema } from './envelope.ts';

/** `{p}/log`, while the command `log_stream` runs. */
export const logSchema = z.object({
  ts: timestampSchema.describe('when it was sent; null while the clock is not set'),
  lines: z.array(z.string()).describe('records of the log, each a JSON object in text; a long one is cut'),
  dropped: z.number().describe('lines since the last message that were too many to send'),
});
