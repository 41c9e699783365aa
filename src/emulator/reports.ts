/** Answers of `/emulator/*`; names are in snake_case. */
import * as z from 'zod';
import { streamReportSchema } from './core/stream-report.ts';

const count = z.int().min(0);
const lateSchema = z.object({ p50: z.number(), p99: z.number(), max: z.number() }).readonly();
const streams = z.array(streamReportSchema);

/** `GET /emulator/streams` */
export const streamsAnswerSchema = z.object({
  streams,
  closed: count.describe('number of closed streams that are remembered'),
});

/** `GET /emulator/metrics` */
export const metricsAnswerSchema = z.object({
  streams,
  sessions: z.object({ known: count, pending: count }),
  load: z
    .object({
      event_loop_late_ms: lateSchema,
      speech: z.object({ waiting: count, late_ms: lateSchema, dropped: count }).readonly(),
    })
    .readonly(),
  detector: z.enum(['fvad', 'energy']),
});

const strainedSchema = z.object({
  stream: z.string(),
  link: z.object({ deaf: z.boolean(), read_bytes_per_s: z.number(), mute: z.boolean() }).readonly(),
  heals_in_ms: z.number().nullable(),
});

/** `GET /emulator/faults` */
export const faultsAnswerSchema = z.object({
  waiting: z.array(
    z.object({ id: z.int(), kind: z.string(), when: z.string(), in_ms: z.number() }).readonly(),
  ),
  ordered: z.array(
    z
      .object({
        id: z.int(),
        kind: z.string(),
        times: z.int(),
        of: z.string().nullable().describe('the route or reason'),
      })
      .readonly(),
  ),
  lasting: z.object({
    streams: z.array(strainedSchema.readonly()),
    skew_ms: z.number(),
    account: z.enum(['ok', 'out_of_balance', 'blocked']),
  }),
});

/** `GET /emulator/clock` */
export const clockAnswerSchema = z.object({ now: z.string(), skew_ms: z.number() });
