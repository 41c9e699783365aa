import * as z from 'zod';
import { LOG_LEVELS } from '../../common/setting-values.ts';
import { manifestUrlSchema, versionSchema } from '../../common/update.ts';
import { laneAccountSchema } from '../account.ts';
import { certificateArgsSchema } from '../certificate.ts';
import { laneReportSchema } from '../device.ts';
import { checkNameSchema, diagnosisSchema } from '../diagnose.ts';
import { timestampSchema } from '../envelope.ts';
import { DEVICE_STATUSES } from '../statuses.ts';
import { type CommandDefinitions, readNumber } from './command-definition.ts';

/** The answer of the command `status`. */
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

const logAnswerSchema = z.strictObject({
  level: z.string().describe('as requested'),
  until: timestampSchema.describe('end of the effect; null: no end, or the clock is not set'),
});

/** Commands for the device as a whole, in the order of the reference. */
export const DEVICE_COMMANDS = {
  log_level: {
    args: z
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
    keeps: ['level', 'minutes'],
    data: logAnswerSchema,
    role: 'operator',
    example: { level: 'debug', minutes: 30 },
    verb: {
      says: 'set the lowest level that is logged',
      words: [
        { flags: '<level>' },
        {
          flags: '--minutes <n>',
          says: 'return to the configured level after this time; left out: at a restart',
          read: readNumber,
        },
      ],
    },
  },
  log_stream: {
    args: z
      .strictObject({
        minutes: z.number().min(0).max(60).describe('duration; 0 ends it'),
        level: z.enum(LOG_LEVELS).default('info').describe('lowest level that is sent'),
      })
      .describe(
        'Publishes the log on the topic `log` for a while, without secrets. A second command replaces the first.',
      ),
    keeps: ['minutes', 'level'],
    data: logAnswerSchema,
    role: 'operator',
    example: { minutes: 5, level: 'info' },
    verb: null,
  },
  restart: {
    args: z
      .strictObject({})
      .describe(
        'Shuts the agent down cleanly so that systemd restarts it; `unsupported` without a supervisor.',
      ),
    data: z.strictObject({ in_ms: z.number().describe('milliseconds until the agent ends') }),
    role: 'operator',
    example: {},
    verb: { says: 'shut the agent down cleanly; systemd restarts it' },
  },
  reboot: {
    args: z
      .strictObject({})
      .describe('Reboots the device; `unsupported` if dragoman-reboot.path is not enabled.'),
    data: z.strictObject({}),
    role: 'administrator',
    mustBeSigned: true,
    example: {},
    verb: { says: 'reboot the device' },
  },
  update: {
    args: z
      .strictObject({
        version: versionSchema.describe('exact version, such as `1.3.0`'),
        manifest_url: manifestUrlSchema
          .optional()
          .describe(
            "address of the repository's signed list, `.../dists/SUITE/InRelease`; left out: the device's own list of sources",
          ),
        not_before: z.iso
          .datetime({ offset: true })
          .optional()
          .describe('earliest time of the restart; left out: the next good moment'),
      })
      .describe(
        'Orders a version of the agent ([updates.md](updates.md)). The answer `ok` confirms the order; `update` in `state` shows its progress. A later order replaces one that waits. `unsupported` without the updater.',
      ),
    keeps: ['version', 'manifest_url', 'not_before'],
    data: z.strictObject({}),
    role: 'administrator',
    mustBeSigned: true,
    example: { version: '1.3.0', manifest_url: 'https://releases.example/dists/stable/InRelease' },
    verb: {
      says: 'order a version of the agent',
      words: [
        { flags: '<version>' },
        {
          flags: '--manifest-url <address>',
          says: "signed list of the repository; left out: the device's own sources",
        },
        { flags: '--not-before <time>', says: 'earliest time of the restart (ISO 8601)' },
      ],
    },
  },
  rollback: {
    args: z
      .strictObject({})
      .describe(
        'Returns to the version before the last update, without a download. It cancels an update that is under way. `no_version` if there is no earlier version.',
      ),
    data: z.strictObject({}),
    role: 'administrator',
    mustBeSigned: true,
    example: {},
    verb: { says: 'return to the version before the last update' },
  },
  certificate: {
    args: certificateArgsSchema.describe(
      'Delivers the client certificate that the device requested (`cert/req`). The device tries it at once and keeps the old one until the broker accepts the new one. Without arguments the device sends a new request now.',
    ),
    keeps: ['request'],
    data: z.strictObject({
      valid_to: timestampSchema.describe(
        'expiry of the new certificate; without arguments: expiry of the current certificate',
      ),
    }),
    role: 'administrator',
    mustBeSigned: true,
    example: { request: 'mB7kQ2xW9vR4tY8p', certificate: '-----BEGIN CERTIFICATE-----\n...' },
    verb: null,
  },
  status: {
    args: z
      .strictObject({})
      .describe(
        'Returns the complete state of the device, and publishes `status` and `state` again; changes nothing.',
      ),
    data: statusAnswerSchema,
    role: 'operator',
    isReadOnly: true,
    example: {},
    verb: null,
  },
  diagnose: {
    args: z
      .strictObject({
        only: z.array(checkNameSchema).min(1).optional().describe('only these checks; left out: all'),
      })
      .describe('Runs the checks of `dragoman doctor` in the running agent; changes nothing.'),
    keeps: ['only'],
    data: diagnosisSchema,
    role: 'operator',
    isReadOnly: true,
    example: { only: ['broker', 'capture'] },
    verb: null,
  },
} as const satisfies CommandDefinitions;
