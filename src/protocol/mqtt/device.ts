import * as z from 'zod';
import { updateReportSchema } from '../common/update.ts';
import { count, measure, milliseconds, sentence, wholeCount, word } from './bounds.ts';
import { timestampSchema } from './envelope.ts';
import { DEVICE_STATUSES } from './statuses.ts';

const ts = timestampSchema.describe('time of sending; null while the clock is not set');
const boot_id = word.describe('new at each start of the agent');

/** `{p}/status`, retained; also the last will. */
export const statusSchema = z.object({
  ts,
  status: z.enum(DEVICE_STATUSES).describe('see [operate.md](operate.md#status)'),
  boot_id,
  conn_seq: wholeCount.describe('number of connections to the broker since the start of the agent'),
  version: word.describe("the agent's version"),
  reasons: z
    .array(sentence)
    .max(64)
    .describe('`code` or `code:detail`, see [operate.md](operate.md#reasons)'),
});
export type StatusMessage = z.infer<typeof statusSchema>;

const noticeSchema = z
  .object({
    ts: timestampSchema.describe('time of the occurrence'),
    code: word.describe('for programs'),
    message: sentence.describe('for people'),
  })
  .nullable();

/** One lane in `{p}/state`. */
export const laneReportSchema = z.object({
  id: word.describe('lane id, as in the configuration'),
  phase: word.describe('see [lane.md](lane.md#phases)'),
  source: word.describe('language of the speech at the microphone'),
  targets: z.array(word).max(64).describe('languages of the translations'),
  refused_task: z
    .object({
      source: word.optional().describe('requested source, if refused'),
      targets: z.array(word).max(64).optional().describe('requested targets, if refused'),
      voice: word.nullable().optional().describe('requested voice, if refused'),
      message: sentence.describe('message of the service'),
    })
    .nullable()
    .describe(
      'requested settings that the service refuses; its last accepted settings stay in force; null: none are refused',
    ),
  conversation: z
    .object({
      since: timestampSchema.describe('its beginning'),
      notice: word
        .nullable()
        .describe('language of the notice that an AI interprets; null: `conversation.notice` is off'),
    })
    .nullable()
    .describe('the conversation at the desk; null: none'),
  muted: z.boolean().describe('muted by command or by a key'),
  volume: count.describe('of the loudspeaker, percent'),
  headset: z.boolean().optional().describe('the plug of the headset is in: nothing is spoken aloud'),
  capture: sentence.describe('microphone: a device, or `file:`, `command:`, `addon:` with a name'),
  playback: sentence.describe('loudspeaker, in the same form'),
  capture_findings: z
    .array(word)
    .max(64)
    .describe(
      'problems of a working microphone: `incomplete`, `too_fast`, `too_slow`, `silent`, `deaf`, `clipping`, `dc_offset`, `gain_changed`, `noisy_room`',
    ),
  echo: z.object({
    wanted: word.describe('configured mode, or the mode set by command'),
    mode: word.describe(
      'mode in force; half-duplex after a fallback, and while the canceller learns the room',
    ),
    fallback: z.enum(['loop', 'canceller']).nullable().describe('reason for the fallback; null: no fallback'),
    tail_ms: milliseconds.describe('time for which the gate stays closed after playback in half-duplex'),
    delay_ms: measure.nullable().describe('last measured delay from the loudspeaker to the microphone'),
    gain_db: measure.nullable().describe('last measured level of the echo relative to the played sound'),
  }),
  room_dbfs: measure
    .nullable()
    .describe('usual level of the room in the speech band, within 3 dB; null: not known yet'),
  vain_wakes: count.describe(
    'number of wake-ups in the last hour by sound in which the service recognised no speech',
  ),
  /** Shortened: session ids can look like tokens. */
  session: word.nullable().describe('session id, shortened; null without a stream'),
  stream_host: word.nullable().describe('host that receives the speech; null without a stream'),
  speech_lost_ms: milliseconds.describe('speech that never reached a working service, since the start'),
  unspoken_ms: milliseconds.describe(
    'speech that the service received but did not speak, since the start; the sum of all languages',
  ),
  speech_dropped_ms: milliseconds.describe(
    'translated speech that was not played (late, spoken over, no loudspeaker, lane stopped), since the start',
  ),
  deaf_since: timestampSchema.describe(
    'since when half-duplex has muted the microphone, if longer than a minute; null: not muted that long',
  ),
  next_try_at: timestampSchema.describe(
    'time of the next automatic retry; null: none, or the clock is not set',
  ),
  closed_until: timestampSchema.describe(
    'time until which `schedule` or `budget` prevents sessions; null: sessions are allowed, or the time is unknown',
  ),
  last_error: noticeSchema.describe(
    'latest unresolved error; null while a stream is live and microphone and loudspeaker work',
  ),
  last_warning: noticeSchema.describe('last warning of the service within the past minute of this session'),
});
export type LaneReport = z.infer<typeof laneReportSchema>;

/** `{p}/state`, retained, at most once a second. */
export const stateSchema = z.object({
  ts,
  boot_id,
  groups: z.array(word).max(64).optional().describe('configured groups of the device'),
  outbox: z.object({
    depth: count.describe('messages that are not sent or not acknowledged yet'),
    dropped: count.describe('messages dropped since the start'),
  }),
  budget: z
    .object({
      used_minutes: wholeCount.describe(
        'whole minutes of open streams on this local day, all lanes together',
      ),
      minutes_per_day: count.describe('limit'),
    })
    .nullable()
    .describe('use of `budget.minutesPerDay`; null: no limit'),
  help: z
    .object({
      state: z
        .enum(['called', 'unanswered', 'answered'])
        .describe('`unanswered`: no answer within `help.answerWithin`'),
      since: timestampSchema.describe('time of the call'),
      by: word.nullable().describe('who has answered; null: not answered, or without a name'),
    })
    .nullable()
    .optional()
    .describe(
      'the call of a visitor for a member of staff ([desk.md](desk.md#a-call-for-staff)); null: none',
    ),
  update: updateReportSchema
    .nullable()
    .optional()
    .describe('the last update of the agent; null: this device has no updater ([updates.md](updates.md))'),
  lanes: z.array(laneReportSchema).max(64).describe('all lanes'),
});
export type StateMessage = z.infer<typeof stateSchema>;
