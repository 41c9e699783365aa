import * as z from 'zod';
import { plainTextSchema } from '../common/plain-text.ts';
import type { WallMs } from '../common/time.ts';

/** ISO 8601 UTC, or null while the sender's clock is not set. */
export const timestampSchema = z.iso.datetime({ offset: true }).nullable();

/** Correlates a request with its answer; chosen by the sender of the request. */
export const requestIdSchema = plainTextSchema.min(1).max(128);

/** Formats the time of sending for the `ts` of a payload. */
export function timestamp(wallMs: WallMs | null): string | null {
  return wallMs === null ? null : new Date(wallMs).toISOString();
}
