import * as z from 'zod';

/**
 * The operator's view of device messages. Devices of a fleet run several versions, older and newer than this program:
 * missing or unusual fields get a default, and unknown fields are ignored.
 */
const text = z.string().catch('');
const texts = z.array(z.string()).catch([]);
const moment = z.string().nullable().catch(null);
const told = z.looseObject({ code: text, message: text }).nullable().catch(null);

export const toldLaneSchema = z.looseObject({
  ...{ id: text, phase: text, source: text, targets: texts },
  muted: z.boolean().catch(false),
  volume: z.number().nullable().catch(null),
  ...{ capture: text, playback: text, capture_findings: texts },
  echo: z.looseObject({ mode: text }).catch({ mode: '' }),
  ...{ session: moment, stream_host: moment, next_try_at: moment },
  speech_lost_ms: z.number().catch(0),
  unspoken_ms: z.number().catch(0),
  speech_dropped_ms: z.number().catch(0),
  ...{ last_error: told, last_warning: told },
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
export type ToldLane = z.infer<typeof toldLaneSchema>;
const lanes = z.array(toldLaneSchema).catch([]);

/** `{p}/status`. */
export const toldStatusSchema = z.looseObject({
  ts: moment,
  status: z.string(),
  version: text,
  reasons: texts,
});
export type ToldStatus = z.infer<typeof toldStatusSchema>;

/** `{p}/state`. */
export const toldStateSchema = z.looseObject({ ts: moment, groups: texts, lanes });
export type ToldState = z.infer<typeof toldStateSchema>;

/** The answer to the command `status`. */
export const toldAnswerSchema = z.looseObject({
  ...{ status: z.string(), reasons: texts, version: text, lanes },
  uptime_s: z.number().catch(0),
});
export type ToldAnswer = z.infer<typeof toldAnswerSchema>;

/** The answer to a command that acts on lanes. */
export const toldLanesSchema = z.looseObject({
  lanes: z.array(
    z.looseObject({
      ...{ id: text, phase: text, source: text, targets: texts, echo: text },
      muted: z.boolean().catch(false),
      volume: z.number().nullable().catch(null),
    }),
  ),
  note: z.string().optional().catch(undefined),
});

/** `{p}/config/reported`. */
export const toldReportSchema = z.looseObject({
  version: z.record(z.string(), z.number()).catch({}),
  effective: z.unknown(),
  errors: z.array(z.looseObject({ from: text, key: text, message: text })).catch([]),
});
export type ToldReport = z.infer<typeof toldReportSchema>;
