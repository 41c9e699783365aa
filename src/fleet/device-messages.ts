import * as z from 'zod';
import { count, milliseconds, seconds } from '../protocol/mqtt/bounds.ts';

/**
 * The operator's view of device messages. Devices of a fleet run several versions, older and newer than this program:
 * missing or unusual fields get a default, and unknown fields are ignored.
 */
/** Longest text that is read (characters): most are cut further where they are shown. */
const LONGEST_TEXT = 4096;
const text = z.string().max(LONGEST_TEXT).catch('');
const texts = z.array(z.string().max(LONGEST_TEXT)).catch([]);
const moment = z.string().max(LONGEST_TEXT).nullable().catch(null);
const total = milliseconds.catch(0);
const notice = z.looseObject({ code: text, message: text }).nullable().catch(null);

export const receivedLaneSchema = z.looseObject({
  id: text,
  phase: text,
  source: text,
  targets: texts,
  muted: z.boolean().catch(false),
  volume: count.nullable().catch(null),
  capture: text,
  playback: text,
  capture_findings: texts,
  echo: z.looseObject({ mode: text }).catch({ mode: '' }),
  session: moment,
  stream_host: moment,
  next_try_at: moment,
  speech_lost_ms: total,
  unspoken_ms: total,
  speech_dropped_ms: total,
  last_error: notice,
  last_warning: notice,
  refused_task: z
    .looseObject({
      source: text.optional(),
      targets: texts.optional(),
      voice: text.nullable().optional(),
      message: text,
    })
    .nullable()
    .catch(null),
});
export type ReceivedLane = z.infer<typeof receivedLaneSchema>;
const lanes = z.array(receivedLaneSchema).catch([]);

/** `{p}/status`. */
export const receivedStatusSchema = z.looseObject({
  ts: moment,
  status: z.string(),
  version: text,
  reasons: texts,
});
export type ReceivedStatus = z.infer<typeof receivedStatusSchema>;

/** An open call of a visitor; null: none, or answered. */
export const receivedCallSchema = z
  .object({ state: z.enum(['called', 'unanswered']), since: moment })
  .nullable()
  .catch(null);

/** `{p}/state`. */
export const receivedStateSchema = z.looseObject({
  ts: moment,
  groups: texts,
  lanes,
  help: receivedCallSchema,
});
export type ReceivedState = z.infer<typeof receivedStateSchema>;

/** The answer to the command `status`. */
export const receivedAnswerSchema = z.looseObject({
  status: z.string(),
  reasons: texts,
  version: text,
  lanes,
  uptime_s: seconds.catch(0),
});
export type ReceivedAnswer = z.infer<typeof receivedAnswerSchema>;

/** The answer to a command that acts on lanes. */
export const receivedLanesSchema = z.looseObject({
  lanes: z.array(
    z.looseObject({
      id: text,
      phase: text,
      source: text,
      targets: texts,
      echo: text,
      muted: z.boolean().catch(false),
      volume: count.nullable().catch(null),
    }),
  ),
  note: z.string().optional().catch(undefined),
});

/** `{p}/config/reported`. */
export const receivedReportSchema = z.looseObject({
  version: z.record(z.string().max(LONGEST_TEXT), z.int()).catch({}),
  effective: z.unknown(),
  errors: z.array(z.looseObject({ from: text, key: text, message: text })).catch([]),
});
export type ReceivedReport = z.infer<typeof receivedReportSchema>;
