import * as z from 'zod';
import { newPacingReport, pacingReportSchema } from './pacing.ts';

const STREAM_PHASES = ['idle', 'starting', 'running', 'paused', 'ending', 'closing', 'closed'] as const;
/** Phase in the life of a stream. */
export type StreamPhase = (typeof STREAM_PHASES)[number];

const count = z.int().min(0);
const ms = z.number();
const ordersSchema = z.object({ count, too_often: count });

/** A stream as `/emulator/streams` and `/emulator/metrics` show it. Times are milliseconds. */
export const streamReportSchema = z.object({
  id: z.string(),
  session: z.string().describe('shortened, because the whole id can serve as a token'),
  client_reference_id: z.string().nullable(),
  phase: z.enum(STREAM_PHASES),
  opened_at: z.string(),
  open_ms: ms,
  source: z.string().nullable(),
  targets: z.array(z.string()),
  input_hz: z.number().nullable(),
  output_hz: z.number().nullable(),
  frames_in: count,
  bytes_in: count,
  audio_ms_in: ms,
  frames_discarded: count.describe('arrived before the pipeline ran, or while it was paused'),
  frames_unheard: count.describe('not transcribed, because they arrived too far ahead of real time'),
  frames_out: count,
  bytes_out: count,
  audio_ms_out: ms,
  messages_in: count,
  messages_out: count,
  invalid_messages: count,
  pacing: pacingReportSchema,
  pacing_violations: count,
  duplicate_frames: count.describe(
    'repeats an earlier frame: duplicate if that is the frame right before, out of order if it is older',
  ),
  out_of_order_frames: count,
  repeated_frames: count.describe('with sound that another stream of the same client had already sent'),
  speeches_late: count.describe('sentences whose speech was made too late'),
  speech_late_ms: ms.describe('delay of the last late speech'),
  worst_speech_late_ms: ms,
  speech_dropped_ms: ms.describe('dropped, because too much speech of its language was queued'),
  billed_ms: ms,
  get_task: ordersSchema,
  set_task: ordersSchema,
  segments: count,
  segments_dropped: count,
  speaking: z.boolean(),
  level_in_db: z.number(),
  level_out_db: z.number(),
  texts: z
    .array(z.object({ type: z.string(), language: z.string(), text: z.string(), at_ms: ms }))
    .describe('the last texts, newest last'),
  closed: z
    .object({ code: z.int(), reason: z.string(), by: z.enum(['client', 'service', 'network']) })
    .nullable(),
});
export type StreamReport = z.infer<typeof streamReportSchema>;

const TEXTS_KEPT = 12;

/** Records a text that was sent. A partial text replaces the previous partial. */
export function noteText(
  report: StreamReport,
  type: string,
  language: string,
  text: string,
  atMs: number,
): void {
  const interim = report.texts.findLastIndex(
    (shown) => shown.type.startsWith('partial') && shown.language === language,
  );
  if (interim >= 0) report.texts.splice(interim, 1);
  report.texts.push({ type, language, text, at_ms: atMs });
  if (report.texts.length > TEXTS_KEPT) report.texts.shift();
}

/** Delay (ms) from which speech counts as late. */
const LATE_MS = 100;

/** Records the synthesis latency of a sentence. */
export function noteLateness(report: StreamReport, lateMs: number): void {
  report.speech_late_ms = Math.round(lateMs);
  report.worst_speech_late_ms = Math.max(report.worst_speech_late_ms, report.speech_late_ms);
  if (lateMs > LATE_MS) report.speeches_late++;
}

/** Number of characters of a session's id that reports show. */
const SHOWN_ID_CHARS = 8;

/** The report of a stream that has just been opened. */
export function newReport(id: string, sessionId: string, client: string | null, opened: Date): StreamReport {
  return {
    id,
    session: `${sessionId.slice(0, SHOWN_ID_CHARS)}…`,
    client_reference_id: client,
    phase: 'idle',
    opened_at: opened.toISOString(),
    open_ms: 0,
    source: null,
    targets: [],
    input_hz: null,
    output_hz: null,
    frames_in: 0,
    bytes_in: 0,
    audio_ms_in: 0,
    frames_discarded: 0,
    frames_unheard: 0,
    frames_out: 0,
    bytes_out: 0,
    audio_ms_out: 0,
    messages_in: 0,
    messages_out: 0,
    invalid_messages: 0,
    pacing: newPacingReport(),
    pacing_violations: 0,
    duplicate_frames: 0,
    out_of_order_frames: 0,
    repeated_frames: 0,
    speeches_late: 0,
    speech_late_ms: 0,
    worst_speech_late_ms: 0,
    speech_dropped_ms: 0,
    billed_ms: 0,
    get_task: { count: 0, too_often: 0 },
    set_task: { count: 0, too_often: 0 },
    segments: 0,
    segments_dropped: 0,
    speaking: false,
    level_in_db: -100,
    level_out_db: -100,
    texts: [],
    closed: null,
  };
}
