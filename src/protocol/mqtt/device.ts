import { z } from 'zod';
import { timestampSchema } from './envelope.ts';

/**
 * `ready`: a word spoken now would be heard and answered. `idle`: deliberately not listening. `degraded`: it should be
 * ready and is not (see `reasons`). `lost`: the broker's word, from the will.
 */
export const DEVICE_STATUSES = ['ready', 'idle', 'degraded', 'stopping', 'offline', 'lost'] as const;
export type DeviceStatus = (typeof DEVICE_STATUSES)[number];

const ts = timestampSchema.describe('when it was sent; null while the clock is not set');
const boot_id = z.string().describe('another one after each start of the agent');

/** `{p}/status`, retained, and the will. */
export const statusSchema = z.object({
  ts,
  status: z.enum(DEVICE_STATUSES).describe('see [operate.md](operate.md#status)'),
  boot_id,
  conn_seq: z.number().int().nonnegative().describe('counts the connections to the broker since the start'),
  version: z.string().describe("the agent's version"),
  reasons: z.array(z.string()).describe('`code` or `code:detail`, see [operate.md](operate.md#reasons)'),
});
export type StatusMessage = z.infer<typeof statusSchema>;

const toldSchema = z
  .object({
    ts: timestampSchema.describe('when it was'),
    code: z.string().describe('for programs'),
    message: z.string().describe('for people'),
  })
  .nullable();

/** One lane in `{p}/state`. */
export const laneReportSchema = z.object({
  id: z.string().describe('the lane, as in the configuration'),
  phase: z.string().describe('see [lane.md](lane.md#phases)'),
  source: z.string().describe('the language that is spoken into the microphone'),
  targets: z.array(z.string()).describe('the languages that are spoken out'),
  refused_task: z
    .object({
      source: z.string().optional().describe('refused: the source that is ordered'),
      targets: z.array(z.string()).optional().describe('refused: the targets that are ordered'),
      voice: z.string().nullable().optional().describe('refused: the voice that is ordered'),
      message: z.string().describe('why, in the words of the service'),
    })
    .nullable()
    .describe(
      'what is ordered and the service does not take: what it took last goes on in its place; null: it takes everything',
    ),
  muted: z.boolean().describe('muted by command'),
  volume: z.number().describe('percent'),
  capture: z.string().describe('the microphone: a device, or `file:`, `command:`, `addon:` with its name'),
  playback: z.string().describe('the loudspeaker, likewise'),
  capture_findings: z
    .array(z.string())
    .describe(
      'what is wrong with a microphone that delivers: `incomplete`, `too_fast`, `too_slow`, `silent`, `deaf`, `clipping`, `dc_offset`, `gain_changed`, `noisy_room`',
    ),
  echo: z.object({
    wanted: z.string().describe('the mode that is configured or was set by command'),
    mode: z
      .string()
      .describe(
        'the mode in force: half-duplex where the wanted one did not hold, and while a canceller learns the room',
      ),
    fallback: z
      .enum(['loop', 'canceller'])
      .nullable()
      .describe('why the wanted mode is not in force; null: it is, or will be in a moment'),
    tail_ms: z.number().describe('how long after the loudspeaker the gate stays closed in half-duplex'),
    delay_ms: z.number().nullable().describe('from the loudspeaker to the microphone, as measured last'),
    gain_db: z.number().nullable().describe('how loud it came back, as measured last'),
  }),
  room_dbfs: z
    .number()
    .nullable()
    .describe('the usual level of the room in the band of speech, within 3 dB; null: not known yet'),
  vain_wakes: z
    .number()
    .describe('how often within the last hour sound woke the lane of which the service made nothing'),
  /** Shortened: session ids can be token-shaped. */
  session: z.string().nullable().describe('the session, shortened; null without a stream'),
  stream_host: z.string().nullable().describe('where what is said goes; null without a stream'),
  speech_lost_ms: z.number().describe('speech that never reached a working service, since the start'),
  unspoken_ms: z
    .number()
    .describe('speech that the service took and did not speak, since the start; the sum of all languages'),
  speech_dropped_ms: z
    .number()
    .describe(
      'translated speech that was not played (late, spoken over, no loudspeaker, lane stopped), since the start',
    ),
  deaf_since: timestampSchema.describe(
    'since when half-duplex has silenced all that was heard, for more than a minute; null: it has not',
  ),
  next_try_at: timestampSchema.describe(
    'when the lane tries again by itself; null: it waits for nothing, or the clock is not set',
  ),
  closed_until: timestampSchema.describe(
    'until when no session is begun, because of `schedule` or `budget`; null: it may be, or nobody knows until when',
  ),
  last_error: toldSchema.describe(
    'what went wrong last, of what is not over; null while a stream lives and microphone and loudspeaker work',
  ),
  last_warning: toldSchema.describe(
    'what the service objected to within the last minute of this session, and went on',
  ),
});
export type LaneReport = z.infer<typeof laneReportSchema>;

/** `{p}/state`, retained, at most once a second. */
export const stateSchema = z.object({
  ts,
  boot_id,
  groups: z.array(z.string()).optional().describe('the groups whose commands it takes, as configured'),
  outbox: z.object({
    depth: z.number().describe('messages that wait for the broker or its acknowledgement'),
    dropped: z.number().describe('messages given up since the start'),
  }),
  lanes: z.array(laneReportSchema).describe('each lane'),
});
export type StateMessage = z.infer<typeof stateSchema>;
