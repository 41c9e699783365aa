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

/** `{p}/cmd/{name}`, operator to device. `not_after` is the moment from which the command must not be carried out. */
export const commandRequestSchema = z.looseObject({
  ts: timestampSchema.optional().describe('when it was sent; not looked at'),
  id: requestIdSchema.describe("the operator's own, a new one for each command"),
  args: z.record(z.string(), z.unknown()).default({}).describe('arguments of the command'),
  not_after: z.iso
    .datetime({ offset: true })
    .nullish()
    .describe('from this moment on it is not carried out, and answered `expired`'),
});
export type CommandRequest = z.infer<typeof commandRequestSchema>;

export const COMMAND_STATUSES = ['accepted', 'ok', 'error', 'expired'] as const;

/** `{p}/cmd/{name}/res`: `accepted` may come first; then exactly one of the others per id. */
export const commandResponseSchema = z.object({
  ts: timestampSchema.describe('when it was answered; null while the clock is not set'),
  id: requestIdSchema.describe("the command's id"),
  status: z.enum(COMMAND_STATUSES).describe('`accepted` may come first; exactly one of the others follows'),
  error: z
    .object({
      code: z.string().describe('see [Errors](#errors)'),
      message: z.string().describe('what is wrong, for people'),
    })
    .optional()
    .describe('with the status `error`'),
  data: z.unknown().optional().describe('what the command tells'),
});
export type CommandResponse = z.infer<typeof commandResponseSchema>;

/** As many characters as a service takes. */
const LONGEST_SAID = 2048;

const lane = { lane: nameSchema.optional().describe('which lane; left out: all') };

/**
 * Arguments of each command this version carries out, and what it does: docs/mqtt.md is made of it. `strictObject`: a
 * misspelt argument is an error, not ignored.
 */
export const COMMAND_ARGS = {
  start: z
    .strictObject({
      ...lane,
      until: z.iso
        .datetime({ offset: true, error: 'must be a time in ISO 8601 such as "2026-05-04T20:00:00Z"' })
        .optional()
        .describe('opens it until this moment, whatever `schedule` says'),
    })
    .describe(
      'Begins to listen; a parked or waiting lane tries at once. Outside the opening hours it is answered `closed`, unless `until` is given.',
    ),
  stop: z.strictObject(lane).describe('Stops listening and speaking at once, and ends the session.'),
  mute: z.strictObject(lane).describe('Closes the microphone; the session goes on and hears silence.'),
  unmute: z.strictObject(lane).describe('Opens the microphone again.'),
  languages: z
    .strictObject({
      ...lane,
      source: languageSchema.optional().describe('the language that is spoken into the microphone'),
      targets: targetsSchema.optional().describe('the languages that are spoken out'),
    })
    .refine(
      (args) => args.source !== undefined || args.targets !== undefined,
      'needs "source", "targets" or both',
    )
    .describe(
      'Changes the languages. Where a session runs the service is asked first: the final answer is `ok` once its task runs, or `rejected` with its words.',
    ),
  volume: z
    .strictObject({
      ...lane,
      percent: z.int().min(VOLUME_PERCENT.min).max(VOLUME_PERCENT.max).describe('of the loudspeaker'),
    })
    .describe('Sets the volume.'),
  echo: z
    .strictObject({ ...lane, mode: z.enum(ECHO_MODES).describe('see [sound.md](sound.md#echo)') })
    .describe('Sets the echo mode; a lane that had fallen back tries it again.'),
  voice: z
    .strictObject({
      ...lane,
      voice: plainTextSchema
        .min(1)
        .max(128)
        .nullable()
        .describe('an id of the service; null: its own choice'),
    })
    .describe('Changes the voice that speaks, like `languages`.'),
  say: z
    .strictObject({
      ...lane,
      text: plainTextSchema
        .max(LONGEST_SAID)
        .refine((text) => text.trim() !== '', 'must not be empty')
        .describe('what is to be spoken, in the language given'),
      language: languageSchema.describe('the language that it is spoken in'),
      translate: z
        .boolean()
        .optional()
        .describe('true: the text is in the source language, and translated first'),
    })
    .describe(
      "Speaks a text in the lane's session; one that sleeps is woken. It waits until nobody speaks or is spoken to, 20 s at most, and for texts before it. `ok` comes when it was heard. A service that speaks no texts is heard with `rejected` or `not_spoken`.",
    ),
  identify: z
    .strictObject({
      ...lane,
      seconds: z.number().min(1).max(300).optional().describe('how long; left out: 10'),
    })
    .describe('Chimes on the loudspeaker, so that somebody in the room can tell which device it is.'),
  log_level: z
    .strictObject({
      level: z.enum(LOG_LEVELS).describe('least important records that are written'),
      minutes: z
        .number()
        .min(1)
        .max(1440)
        .optional()
        .describe('then it is as configured again; left out: until a restart'),
    })
    .describe('Changes what is written to the log.'),
  log_stream: z
    .strictObject({
      minutes: z.number().min(0).max(60).describe('how long; 0 ends it'),
      level: z.enum(LOG_LEVELS).default('info').describe('least important lines that are sent'),
    })
    .describe(
      'Sends the log to the topic `log` for a while, without secrets; a second one replaces the first.',
    ),
  restart: z
    .strictObject({})
    .describe('Ends the agent in order, so that systemd starts it again; `unsupported` where nobody would.'),
  reboot: z
    .strictObject({})
    .describe('Reboots the device; `unsupported` where dragoman-reboot.path is not enabled.'),
  certificate: certificateArgsSchema.describe(
    'Brings the client certificate that the device has asked for (`cert/req`). The device tries it at once and keeps the present one until the broker has taken the new one. Without arguments the device asks for one now, though it is not time yet.',
  ),
  status: z.strictObject({}).describe('Tells everything about the device at once; changes nothing.'),
  diagnose: z
    .strictObject({
      only: z.array(checkNameSchema).min(1).optional().describe('these checks alone; left out: all'),
    })
    .describe('Runs the checks of `dragoman doctor` inside the running agent; changes nothing.'),
} as const;
export type CommandName = keyof typeof COMMAND_ARGS;

/** Spread in seconds of a fan-out over the fleet: each device waits a random part of it. */
export const FLEET_SPREAD_S = { key: 'spread_s', max: 3600 } as const;

/** What commands that act on lanes tell: how these lanes are after it. */
export const lanesAnswerSchema = z.strictObject({
  lanes: z.array(
    z.strictObject({
      id: z.string().describe('the lane'),
      phase: z.string().describe('see [lane.md](lane.md#phases)'),
      muted: z.boolean().describe('muted by command'),
      volume: z.number().describe('percent'),
      echo: z.string().describe('the wanted echo mode'),
      source: z.string().describe('the language that is spoken into the microphone'),
      targets: z.array(z.string()).readonly().describe('the languages that are spoken out'),
    }),
  ),
  note: z.string().optional().describe('where it takes effect later: when'),
});

/** What the command `status` tells. */
export const statusAnswerSchema = z.strictObject({
  status: z.enum(DEVICE_STATUSES).describe('as on the topic `status`'),
  reasons: z.array(z.string()).describe('likewise'),
  version: z.string().describe("the agent's version"),
  boot_id: z.string().describe('another one after each start of the agent'),
  uptime_s: z.number().describe('seconds since the start'),
  refused_answers: z
    .record(z.string(), z.number())
    .describe('answers to token requests that were not taken since the start, by reason'),
  lanes: z.array(laneReportSchema).describe('as on the topic `state`'),
  audio: z
    .array(laneAccountSchema)
    .describe('for each lane where its sound went since the start, and what was measured'),
});
