import { z } from 'zod';
import { timestampSchema } from './envelope.ts';

const quantiles = z
  .object({
    p50: z.number().describe('half of them are no longer'),
    p99: z.number().describe('99 of 100 are no longer'),
  })
  .nullable();

/** One lane in `{p}/health`; counters run from the start of the agent. */
export const laneHealthSchema = z.object({
  id: z.string().describe('the lane'),
  level_dbfs: z
    .number()
    .nullable()
    .describe("the room's usual level in the band of speech; null: not known yet"),
  xruns: z.number().describe('times that sound of the microphone was lost because nobody fetched it in time'),
  capture_restarts: z.number().describe('times that the microphone was opened again'),
  playback_restarts: z.number().describe('times that the loudspeaker was opened again'),
  underruns: z.number().describe('times that the loudspeaker ran dry while something sounded'),
  rollovers: z.number().describe('sessions that followed another one because that had reached its limit'),
  speech_lost_ms: z.number().describe('speech that nobody will hear'),
  billed_s: z.number().describe('seconds for which the service had a stream open'),
  hold_ms: z.number().describe('captured sound that waits to be sent'),
  next_try_at: timestampSchema.describe('when the lane tries again by itself; null: it waits for nothing'),
  capture_to_wire_ms: quantiles.describe(
    'from the end of a chunk at the microphone to its sending; null: none yet',
  ),
  wire_to_speaker_ms: quantiles.describe('from the arrival of a sound to its being heard; null: none yet'),
});

/** `{p}/health`, QoS 0, each 60 s. */
export const healthSchema = z.object({
  ts: timestampSchema.describe('when it was sent; null while the clock is not set'),
  boot_id: z.string().describe('another one after each start of the agent: the counters begin again'),
  rss_bytes: z
    .number()
    .nullable()
    .describe('resident memory of the agent and what it has started; null: not known'),
  cpu_seconds: z.number().nullable().describe("the agent's own since its start; null: not known"),
  loop_lag_ms: quantiles.describe('how late the event loop comes to what is due; null: not known'),
  temperature_c: z.number().nullable().describe('of the board; null: it has no sensor'),
  uptime_s: z.number().describe('seconds since the start of the agent'),
  outbox: z.object({
    depth: z.number().describe('messages that wait for the broker or its acknowledgement'),
    dropped: z.number().describe('messages given up'),
  }),
  reconnects: z.number().describe('connections to the broker after the first'),
  lanes: z.array(laneHealthSchema).describe('each lane'),
});
export type HealthMessage = z.infer<typeof healthSchema>;
export type LaneHealth = z.infer<typeof laneHealthSchema>;
