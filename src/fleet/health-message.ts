import * as z from 'zod';
import { bytes, count, measure, milliseconds, seconds } from '../protocol/mqtt/bounds.ts';

/** `{p}/health`, parsed as tolerantly as the other device messages. */
const orNull = <T extends z.ZodType>(schema: T) => schema.nullable().catch(null);
const quantiles = orNull(z.looseObject({ p99: orNull(milliseconds) }));
const word = z.string().max(256);

const toldLaneHealthSchema = z.looseObject({
  id: word.catch(''),
  level_dbfs: orNull(measure),
  speech_lost_ms: orNull(milliseconds),
  capture_to_wire_ms: quantiles,
  wire_to_speaker_ms: quantiles,
});

export const receivedHealthSchema = z.looseObject({
  ts: orNull(word),
  boot_id: word.catch(''),
  rss_bytes: orNull(bytes),
  cpu_seconds: orNull(seconds),
  temperature_c: orNull(measure),
  uptime_s: orNull(seconds),
  reconnects: orNull(count),
  loop_lag_ms: quantiles,
  outbox: orNull(z.looseObject({ dropped: orNull(count) })),
  lanes: z.array(toldLaneHealthSchema).catch([]),
});
export type ReceivedHealth = z.infer<typeof receivedHealthSchema>;
