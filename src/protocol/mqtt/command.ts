import { z } from 'zod';
import { ECHO_MODES, LOG_LEVELS } from '../config.ts';
import { VOLUME_PERCENT } from '../config-sound.ts';
import { languageSchema, targetsSchema } from '../language.ts';
import { plainTextSchema } from '../plain-text.ts';
import { laneAccountSchema } from './account.ts';
import { certificateArgsSchema } from './certificate.ts';
import { DEVICE_STATUSES, laneReportSchema } from './device.ts';
import { checkNameSchema } from './diagnose.ts';
import { requestIdSchema, timestampSchema } from './envelope.ts';
import { nameSchema } from './topics.ts';

/** `{p}/cmd/{name}`, operator to device. The device does not run the command at or after `not_after`. */
export const commandRequestSchema = z.looseObject({
  ts: timestampSchema.optional().describe('time of sending; ignored'),
  id: requestIdSchema.describe('chosen by the operator, unique per command'),
  args: z.record(z.string(), z.unknown()).default({}).describe('arguments'),
  not_after: z.iso
    .datetime({ offset: true })
    .nullish()
    .describe('at or after this time the device answers `expired` and does not run the command'),
});
export type CommandRequest = z.infer<typeof commandRequestSchema>;

export const COMMAND_STATUSES = ['accepted', 'ok', 'error', 'expired'] as const;

/** `{p}/cmd/{name}/res`: optionally `accepted`, then exactly one of the others per id. */
export const commandResponseSchema = z.object({
  ts: timestampSchema.describe('time of the answer; null while the clock is not set'),
  id: requestIdSchema.describe("the command's id"),
  status: z.enum(COMMAND_STATUSES).describe('optionally `accepted`, then exactly one of the others'),
  error: z
    .object({
      code: z.string().describe('see [Errors](#errors)'),
      message: z.string().describe('description for people'),
    })
    .optional()
    .describe('only with the status `error`'),
  data: z.unknown().optional().describe('result of the command'),
});
export type CommandResponse = z.infer<typeof commandResponseSchema>;

/** Maximum length of a text to speak (characters): the limit of the service. */
const MOST_SAY_CHARS = 2048;

const lane = { lane: nameSchema.optional().describe('lane id; left out: all lanes') };

/**
 * Arguments and meaning of each command. docs/mqtt.md is generated from it. `strictObject`: a misspelt argument is an
 * error.
 */
export const COMMAND_ARGS = {
  start: z
    .strictObject({
      ...lane,
      until: z.iso
        .datetime({ offset: true, error: 'must be a time in ISO 8601 such as "2026-05-04T20:00:00Z"' })
        .optional()
        .describe('keeps the lane open until this time, regardless of `schedule`'),
    })
    .describe(
      'Starts to listen; a parked or waiting lane retries at once. Outside the opening hours the answer is `closed`, unless `until` is given.',
    ),
  stop: z.strictObject(lane).describe('Stops listening and speaking at once and ends the session.'),
  mute: z.strictObject(lane).describe('Mutes the microphone; the session continues and receives silence.'),
  unmute: z.strictObject(lane).describe('Unmutes the microphone.'),
  languages: z
    .strictObject({
      ...lane,
      source: languageSchema.optional().describe('language of the speech at the microphone'),
      targets: targetsSchema.optional().describe('languages of the translations'),
    })
    .refine(
      (args) => args.source !== undefined || args.targets !== undefined,
      'needs "source", "targets" or both',
    )
    .describe(
      'Changes the languages. During a session the service decides: the final answer is `ok` when the new task runs, or `rejected` with the message of the service.',
    ),
  volume: z
    .strictObject({
      ...lane,
      percent: z.int().min(VOLUME_PERCENT.min).max(VOLUME_PERCENT.max).describe('volume of the loudspeaker'),
    })
    .describe('Sets the volume.'),
  echo: z
    .strictObject({ ...lane, mode: z.enum(ECHO_MODES).describe('see [sound.md](sound.md#echo)') })
    .describe('Sets the echo mode; a lane in fallback tries the mode again.'),
  voice: z
    .strictObject({
      ...lane,
      voice: plainTextSchema
        .min(1)
        .max(128)
        .nullable()
        .describe('voice id of the service; null: its default'),
    })
    .describe('Changes the voice of the translation; answered like `languages`.'),
  say: z
    .strictObject({
      ...lane,
      text: plainTextSchema
        .max(MOST_SAY_CHARS)
        .refine((text) => text.trim() !== '', 'must not be empty')
        .describe('text to speak'),
      language: languageSchema.describe('language of the speech'),
      translate: z
        .boolean()
        .optional()
        .describe('true: the text is in the source language and is translated first'),
    })
    .describe(
      "Speaks a text in the lane's session and wakes a lane in standby. It waits for earlier texts, and at most 20 s for a pause in the conversation. The answer `ok` comes after playback. If the service does not speak texts, the answer is `rejected` or `not_spoken`.",
    ),
  identify: z
    .strictObject({
      ...lane,
      seconds: z.number().min(1).max(300).optional().describe('duration; left out: 10'),
    })
    .describe('Plays chimes on the loudspeaker, so that a person in the room can find the device.'),
  log_level: z
    .strictObject({
      level: z.enum(LOG_LEVELS).describe('lowest level that is logged'),
      minutes: z
        .number()
        .min(1)
        .max(1440)
        .optional()
        .describe('duration; then the configured level applies again; left out: until a restart'),
    })
    .describe('Changes the log level.'),
  log_stream: z
    .strictObject({
      minutes: z.number().min(0).max(60).describe('duration; 0 ends it'),
      level: z.enum(LOG_LEVELS).default('info').describe('lowest level that is sent'),
    })
    .describe(
      'Publishes the log on the topic `log` for a while, without secrets. A second command replaces the first.',
    ),
  restart: z
    .strictObject({})
    .describe(
      'Shuts the agent down cleanly so that systemd restarts it; `unsupported` without a supervisor.',
    ),
  reboot: z
    .strictObject({})
    .describe('Reboots the device; `unsupported` if dragoman-reboot.path is not enabled.'),
  certificate: certificateArgsSchema.describe(
    'Delivers the client certificate that the device requested (`cert/req`). The device tries it at once and keeps the old one until the broker accepts the new one. Without arguments the device sends a new request now.',
  ),
  status: z.strictObject({}).describe('Returns the complete state of the device; changes nothing.'),
  diagnose: z
    .strictObject({
      only: z.array(checkNameSchema).min(1).optional().describe('only these checks; left out: all'),
    })
    .describe('Runs the checks of `dragoman doctor` in the running agent; changes nothing.'),
} as const;
export type CommandName = keyof typeof COMMAND_ARGS;

/** Argument of a command to several devices (seconds): each device waits a random part of it. */
export const FLEET_SPREAD_S = { key: 'spread_s', max: 3600 } as const;

/** Answer of commands on lanes: the state of these lanes afterwards. */
export const lanesAnswerSchema = z.strictObject({
  lanes: z.array(
    z.strictObject({
      id: z.string().describe('the lane'),
      phase: z.string().describe('see [lane.md](lane.md#phases)'),
      muted: z.boolean().describe('muted by command'),
      volume: z.number().describe('percent'),
      echo: z.string().describe('the wanted echo mode'),
      source: z.string().describe('language of the speech at the microphone'),
      targets: z.array(z.string()).readonly().describe('languages of the translations'),
    }),
  ),
  note: z.string().optional().describe('when it takes effect, if later'),
});

/** Answer of the command `status`. */
export const statusAnswerSchema = z.strictObject({
  status: z.enum(DEVICE_STATUSES).describe('as on the topic `status`'),
  reasons: z.array(z.string()).describe('as on the topic `status`'),
  version: z.string().describe("the agent's version"),
  boot_id: z.string().describe('new at each start of the agent'),
  uptime_s: z.number().describe('seconds since the start of the agent'),
  refused_answers: z
    .record(z.string(), z.number())
    .describe('number of answers to token requests that the device rejected since the start, by reason'),
  lanes: z.array(laneReportSchema).describe('as on the topic `state`'),
  audio: z
    .array(laneAccountSchema)
    .describe('account of the audio of each lane since the start, with measured delays'),
});
