import { z } from 'zod';
import { timestampSchema } from './envelope.ts';

/**
 * `ready`: a word spoken now would be heard and answered. `idle`: deliberately not listening. `degraded`: it should be
 * ready and is not (see `reasons`). `lost`: the broker's word, from the will.
 */
export const DEVICE_STATUSES = ['ready', 'idle', 'degraded', 'stopping', 'offline', 'lost'] as const;
export type DeviceStatus = (typeof DEVICE_STATUSES)[number];

/** `{p}/status`, retained, and the will. */
export const statusSchema = z.object({
  ts: timestampSchema,
  status: z.enum(DEVICE_STATUSES),
  boot_id: z.string(),
  conn_seq: z.number().int().nonnegative(),
  version: z.string(),
  reasons: z.array(z.string()),
});
export type StatusMessage = z.infer<typeof statusSchema>;

/** One lane in `{p}/state`. */
export const laneReportSchema = z.object({
  id: z.string(),
  phase: z.string(),
  source: z.string(),
  targets: z.array(z.string()),
  muted: z.boolean(),
  volume: z.number(),
  capture: z.string(),
  playback: z.string(),
  /** What is wrong with a microphone that delivers: too_fast, too_slow, silent, deaf, clipping, dc_offset. */
  capture_findings: z.array(z.string()),
  echo: z.object({
    wanted: z.string(),
    /** In force: half-duplex where the wanted mode did not hold, and while a canceller learns the room. */
    mode: z.string(),
    fallback: z.enum(['loop', 'canceller']).nullable(),
    /** How long after the loudspeaker the gate stays closed in half-duplex. */
    tail_ms: z.number(),
    /** As measured last; null before. */
    delay_ms: z.number().nullable(),
    gain_db: z.number().nullable(),
  }),
  /** Shortened: session ids can be token-shaped. */
  session: z.string().nullable(),
  /** Where what is said goes; null without a stream. */
  stream_host: z.string().nullable(),
  /** Speech that nobody will hear, since boot: outages were longer than the backlog. */
  speech_lost_ms: z.number(),
  /** When the lane tries again by itself; null: it waits for nothing, or the clock is not set. */
  next_try_at: timestampSchema,
  last_error: z.object({ ts: timestampSchema, code: z.string(), message: z.string() }).nullable(),
  /** What the service objected to within the last minute of this session, and went on. */
  last_warning: z.object({ ts: timestampSchema, code: z.string(), message: z.string() }).nullable(),
});
export type LaneReport = z.infer<typeof laneReportSchema>;

/** `{p}/state`, retained, at most once a second. */
export const stateSchema = z.object({
  ts: timestampSchema,
  boot_id: z.string(),
  /** Messages that wait for the broker or its acknowledgement, and how many were given up since boot. */
  outbox: z.object({ depth: z.number(), dropped: z.number() }),
  lanes: z.array(laneReportSchema),
});
export type StateMessage = z.infer<typeof stateSchema>;

/** `{p}/event/{kind}`. */
export const EVENT_KINDS = [
  'session_started',
  'session_ended',
  'rollover',
  'revoked',
  'max_duration',
  'refused',
  'unreachable',
  'audio_cut',
  'times_refused',
  'audio_lost',
  'audio_back',
  'echo_detected',
  'echo_fallback',
  'capture_problem',
  'capture_problem_over',
  'speech_lost',
  'backend_silent',
  'backend_back',
  'speech_dropped',
  'parked',
  'internal_error',
  'standby',
  'wake',
] as const;
export type EventKind = (typeof EVENT_KINDS)[number];
export const eventSchema = z.looseObject({ ts: timestampSchema, lane: z.string().nullable() });
