import type { PacingReport } from './pacing.ts';

/** Where a stream is in its life. */
export type StreamPhase = 'idle' | 'starting' | 'running' | 'paused' | 'ending' | 'closing' | 'closed';

/** What is known of a stream, as `/emulator/streams` and `/emulator/metrics` show it. Times are milliseconds. */
export interface StreamReport {
  id: string;
  /** Shortened: the whole id can be as good as a token. */
  session: string;
  client_reference_id: string | null;
  phase: StreamPhase;
  opened_at: string;
  open_ms: number;
  source: string | null;
  targets: string[];
  input_hz: number | null;
  output_hz: number | null;
  frames_in: number;
  bytes_in: number;
  audio_ms_in: number;
  /** Frames that came before the pipeline ran, or while it was paused. */
  frames_discarded: number;
  /** Frames that came this much faster than real time that nobody listened to them: silence to the transcription. */
  frames_unheard: number;
  frames_out: number;
  bytes_out: number;
  audio_ms_out: number;
  messages_in: number;
  messages_out: number;
  invalid_messages: number;
  pacing: PacingReport;
  pacing_violations: number;
  /** Frames whose sound is the same as an earlier frame's: right before, or further back. */
  duplicate_frames: number;
  out_of_order_frames: number;
  /** Frames whose sound another stream of the same client had already sent. */
  repeated_frames: number;
  /** Speech that was made after its moment, and by how much the last and the worst of it. */
  speeches_late: number;
  speech_late_ms: number;
  worst_speech_late_ms: number;
  /** Speech that was dropped because too much of its language waited. */
  speech_dropped_ms: number;
  billed_ms: number;
  get_task: { count: number; too_often: number };
  set_task: { count: number; too_often: number };
  segments: number;
  segments_dropped: number;
  speaking: boolean;
  level_in_db: number;
  level_out_db: number;
  /** The last texts, newest last. */
  texts: { type: string; language: string; text: string; at_ms: number }[];
  closed: { code: number; reason: string; by: 'client' | 'service' | 'network' } | null;
}

const TEXTS_KEPT = 12;

/** Notes a text that was sent. An interim text takes the place of the one before it. */
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

/** Speech that comes this much after its moment is late. */
const LATE_MS = 100;

/** Notes by how much the making of a sentence's speech missed its moment. */
export function noteLateness(report: StreamReport, lateMs: number): void {
  report.speech_late_ms = Math.round(lateMs);
  report.worst_speech_late_ms = Math.max(report.worst_speech_late_ms, report.speech_late_ms);
  if (lateMs > LATE_MS) report.speeches_late++;
}

/** As much of a session's id as may be shown. */
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
    pacing: {
      violations: 0,
      too_fast: 0,
      too_slow: 0,
      stalled: 0,
      lead_ms: 0,
      worst_lead_ms: 0,
      worst_lag_ms: 0,
      longest_gap_ms: 0,
    },
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
