/** The log of one device in the owner's console. */
import * as z from 'zod';
import { LOG_LEVELS } from './common/setting-values.ts';

export const logRequestSchema = z.strictObject({
  minutes: z.int().min(1).max(60).default(5),
  level: z.enum(LOG_LEVELS).default('info'),
});
export type LogRequest = z.input<typeof logRequestSchema>;

export interface LogLines {
  /** Each line is a JSON record. */
  readonly lines: readonly string[];
  readonly dropped: number;
}
