import * as z from 'zod';
import { bytes, count, measure, milliseconds, seconds, word } from './bounds.ts';
import { timestampSchema } from './envelope.ts';

const quantiles = z
  .object({
    p50: milliseconds.describe('median'),
    p99: milliseconds.describe('99th percentile'),
  })
  .nullable();

/** One lane in `{p}/health`; counters run from the start of the agent. */
export const laneHealthSchema = z.object({
  id: word.describe('the lane'),
  level_dbfs: measure.nullable().describe('usual level of the room in the speech band; null: not known yet'),
  xruns: count.describe('number of capture overruns (microphone data was not read in time)'),
  capture_restarts: count.describe('number of restarts of the microphone'),
  playback_restarts: count.describe('number of restarts of the loudspeaker'),
  underruns: count.describe('number of playback underruns during speech'),
  rollovers: count.describe('sessions that replaced another one at its limit'),
  speech_lost_ms: milliseconds.describe('lost speech'),
  billed_s: seconds.describe('total seconds with an open stream'),
  hold_ms: milliseconds.describe('captured audio that is not sent yet'),
  next_try_at: timestampSchema.describe('time of the next automatic retry; null: none'),
  capture_to_wire_ms: quantiles.describe(
    'from the end of a chunk at the microphone to its sending; null: no measurement yet',
  ),
  wire_to_speaker_ms: quantiles.describe(
    'from the arrival of audio to its playback; null: no measurement yet',
  ),
});

/** `{p}/health`, QoS 0, every 60 s. */
export const healthSchema = z.object({
  ts: timestampSchema.describe('time of sending; null while the clock is not set'),
  boot_id: word.describe('new at each start of the agent, which resets the counters'),
  rss_bytes: bytes
    .nullable()
    .describe('resident memory of the agent and its child processes; null: not known'),
  cpu_seconds: seconds.nullable().describe('CPU time of the agent since its start; null: not known'),
  loop_lag_ms: quantiles.describe('delay of the event loop; null: not known'),
  temperature_c: measure.nullable().describe('temperature of the board; null: no sensor'),
  uptime_s: seconds.describe('seconds since the start of the agent'),
  outbox: z.object({
    depth: count.describe('messages that are not sent or not acknowledged yet'),
    dropped: count.describe('dropped messages'),
  }),
  reconnects: count.describe('reconnections to the broker'),
  lanes: z.array(laneHealthSchema).max(64).describe('all lanes'),
});
export type HealthMessage = z.infer<typeof healthSchema>;
export type LaneHealth = z.infer<typeof laneHealthSchema>;
