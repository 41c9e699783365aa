import * as z from 'zod';
import { count } from './bounds.ts';
import { timestampSchema } from './envelope.ts';

/** `{p}/log`, while the command `log_stream` runs. */
export const logSchema = z.object({
  ts: timestampSchema.describe('time of sending; null while the clock is not set'),
  lines: z.array(z.string()).describe('log records, each a JSON object as text; long ones are truncated'),
  dropped: count.describe('number of lines since the last message that exceeded the rate limit'),
});
