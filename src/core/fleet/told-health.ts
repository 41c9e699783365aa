import * as z from 'zod';

/** `{p}/health`, as tolerant as the other messages of devices of any version. */
const number = z.number().nullable().catch(null);
const quantiles = z.looseObject({ p99: number }).nullable().catch(null);

const toldLaneHealthSchema = z.looseObject({
  id: z.string().catch(''),
  level_dbfs: number,
  speech_lost_ms: number,
  capture_to_wire_ms: quantiles,
  wire_to_speaker_ms: quantiles,
});

export const toldHealthSchema = z.looseObject({
  ts: z.string().nullable().catch(null),
  boot_id: z.string().catch(''),
  ...{ rss_bytes: number, cpu_seconds: number, temperature_c: number, uptime_s: number, reconnects: number },
  loop_lag_ms: quantiles,
  outbox: z.looseObject({ dropped: number }).nullable().catch(null),
  lanes: z.array(toldLaneHealthSchema).catch([]),
});
export type ToldHealth = z.infer<typeof toldHealthSchema>;
