/**
 * The device's configuration. This one schema is the source of the types, the checks, the defaults
 * and `config/schema.json`; a description here is what an operator reads in an editor.
 */
import { z } from 'zod';
import { minutesPerDaySchema, scheduleSchema } from './config-hours.ts';
import { captureSchema, commandSchema, fileSchema, playbackSchema } from './config-sound.ts';
import { hostSchema, isExposedAddress } from './host.ts';
import { languageClash, languageSchema, targetsSchema } from './language.ts';
import { deviceIdSchema, nameSchema, prefixSchema } from './mqtt/topics.ts';
import { plainTextSchema } from './plain-text.ts';

const BROKER_SCHEMES = ['mqtt:', 'mqtts:', 'ws:', 'wss:'];

const STANDBY_AFTER_S = { max: 86_400, default: 120 } as const;
const ROLLOVER_LEAD_S = { min: 10, max: 300, default: 22 } as const;
const LAST_RESORT_AFTER_S = { min: 60, max: 86_400, default: 600 } as const;

export const ECHO_MODES = ['half-duplex', 'cancel', 'off'] as const;
export const BARGE_IN_MODES = ['duck', 'flush'] as const;
export const START_MODES = ['boot', 'command', 'voice'] as const;
export const LOG_LEVELS = ['trace', 'debug', 'info', 'warn', 'error', 'fatal'] as const;
export type LogLevel = (typeof LOG_LEVELS)[number];

const optionalFile = (description: string) => fileSchema.nullable().default(null).describe(description);

const brokerUrlSchema = plainTextSchema.superRefine((text, context) => {
  const url = URL.canParse(text) ? new URL(text) : null;
  if (url === null || !BROKER_SCHEMES.includes(url.protocol) || url.hostname === '') {
    context.addIssue('must be an address such as "mqtts://broker.example:8883" (mqtt, mqtts, ws or wss)');
  } else if (url.username !== '' || url.password !== '') {
    context.addIssue('must not hold a user name or password: use "username" and "passwordFile"');
  } else if (url.port === '0') {
    context.addIssue('must not name port 0: nothing can be reached there');
  }
});

const deviceSchema = z
  .strictObject({
    id: deviceIdSchema.describe('Name of this device, unique within its tenant.'),
    tenant: nameSchema.describe('Who the device belongs to.'),
    groups: z
      .array(nameSchema)
      .max(16)
      .refine((names) => new Set(names).size === names.length, 'must not name a group twice')
      .default([])
      .describe('Groups of the tenant whose commands this device takes, such as "lobby".'),
    label: plainTextSchema.max(120).default('').describe('What people call this device.'),
    site: plainTextSchema.max(120).default('').describe('Where it stands, for people.'),
  })
  .describe('Who this device is on the broker.');

/** Lets a check across keys run although one of the keys has a problem of its own, so that all are listed at once. */
export const DESPITE_OTHER_PROBLEMS = {
  when: ({ value }: { value: unknown }): boolean => typeof value === 'object' && value !== null,
};
const BELONG_TOGETHER = [
  ['certFile', 'keyFile'],
  ['keyFile', 'certFile'],
  ['passwordFile', 'username'],
] as const;
const isGiven = (value: unknown): boolean => value !== null && value !== undefined;

const INSECURE_BROKER =
  'must be mqtts:// or wss://: in clear anybody on the way can redirect the microphone ("allowInsecure": true beside it takes the risk)';

const mqttSchema = z
  .strictObject({
    url: brokerUrlSchema.describe('Address of the broker: mqtt://, mqtts://, ws:// or wss://.'),
    allowInsecure: z
      .boolean()
      .default(false)
      .describe('Let mqtt:// or ws:// leave this machine, where anybody on the way can read and change it.'),
    prefix: prefixSchema.default('dragoman/v1').describe('First levels of every topic.'),
    username: plainTextSchema.min(1).max(256).nullable().default(null).describe('User name for the broker.'),
    passwordFile: optionalFile('File that holds the password for the broker, and nothing else.'),
    caFile: optionalFile("Certificate authority of the broker, PEM; null uses the system's."),
    certFile: optionalFile('Client certificate of this device, PEM.'),
    keyFile: optionalFile('Private key of the client certificate, PEM.'),
  })
  .superRefine((mqtt, context) => {
    for (const [present, missing] of BELONG_TOGETHER) {
      if (!isGiven(mqtt[present]) || isGiven(mqtt[missing])) continue;
      context.addIssue({ code: 'custom', path: [missing], message: `must be given when "${present}" is` });
    }
    const isAddress = brokerUrlSchema.safeParse(mqtt.url).success;
    if (isAddress && mqtt.allowInsecure !== true && isExposedAddress(mqtt.url))
      context.addIssue({ code: 'custom', path: ['url'], message: INSECURE_BROKER });
  }, DESPITE_OTHER_PROBLEMS)
  .describe('The connection to the broker.');

/** What an operator may change over MQTT (`config/desired`), without the defaults: a missing key leaves what is. */
const desirable = {
  source: languageSchema.describe('Language that is spoken into the microphone.'),
  targets: targetsSchema.describe('Languages that are spoken out, in this order.'),
  voice: plainTextSchema
    .min(1)
    .max(128)
    .nullable()
    .describe('Voice that speaks: an id of the service, or null for its choice.'),
  echo: z
    .enum(ECHO_MODES)
    .describe('Against hearing its own speaker: be deaf while speaking, cancel the echo, or nothing.'),
  start: z.enum(START_MODES).describe('What begins a session: power, a command, or a voice.'),
  standbyAfter: z
    .number()
    .min(0)
    .max(STANDBY_AFTER_S.max)
    .describe('Seconds without speech before the stream stops costing; 0 is never.'),
};
const logLevelSchema = z.enum(LOG_LEVELS).describe('Least important records that are written.');

const laneSchema = z.strictObject({
  id: nameSchema.default('main').describe('Name of the lane, unique on this device.'),
  capture: captureSchema.prefault({}),
  playback: playbackSchema.prefault({}),
  bargeIn: z
    .enum(BARGE_IN_MODES)
    .default('duck')
    .describe('A visitor speaks over the translation (echo "cancel"): turn it down, or end it.'),
  earcons: z
    .boolean()
    .nullable()
    .default(null)
    .describe(
      'Short chimes for ready, connection lost and back, muted and unmuted; null: on a real loudspeaker.',
    ),
  source: desirable.source,
  targets: desirable.targets,
  voice: desirable.voice.default(null),
  echo: desirable.echo.default('half-duplex'),
  start: desirable.start.default('boot'),
  standbyAfter: desirable.standbyAfter.default(STANDBY_AFTER_S.default),
  rolloverLead: z
    .number()
    .min(ROLLOVER_LEAD_S.min)
    .max(ROLLOVER_LEAD_S.max)
    .default(ROLLOVER_LEAD_S.default)
    .describe(
      "Seconds before a session's limit at which the next one is begun, to take over in a pause of speech.",
    ),
});

const isListOfTexts = (value: unknown): value is string[] =>
  Array.isArray(value) && value.every((text) => typeof text === 'string');

const lanesSchema = z
  .array(laneSchema)
  .min(1, 'must hold at least one lane')
  .max(16)
  .superRefine((lanes, context) => {
    // Looked at whatever else is wrong with it.
    if (!Array.isArray(lanes)) return;
    const firsts = new Map<unknown, number>();
    for (const [index, lane] of lanes.entries()) {
      const { source, targets }: { source?: unknown; targets?: unknown } = lane ?? {};
      const areKnown = typeof source === 'string' && isListOfTexts(targets);
      const clash = areKnown ? languageClash(source, targets) : null;
      if (clash !== null) context.addIssue({ code: 'custom', path: [index, 'targets'], message: clash });
      const id = lane?.id;
      const first = firsts.get(id);
      if (first === undefined) firsts.set(id, index);
      if (first === undefined || typeof id !== 'string') continue;
      const message = `must be unique: lanes[${first}] has the same id`;
      context.addIssue({ code: 'custom', path: [index, 'id'], message });
    }
  }, DESPITE_OTHER_PROBLEMS)
  .describe('One microphone, one speaker and one stream each.');

/** The whole configuration. Parsing fills in every default. */
export const configSchema = z
  .strictObject({
    device: deviceSchema,
    mqtt: mqttSchema,
    owner: z
      .strictObject({
        publicKeyFiles: z
          .array(fileSchema)
          .max(8)
          .default([])
          .describe(
            'Public keys of the owner, PEM; given: answers to token requests must be signed with one of them.',
          ),
      })
      .prefault({})
      .describe('By what the device knows its owner.'),
    lanes: lanesSchema,
    schedule: scheduleSchema.nullable().default(null).describe('When sessions may be opened; null: always.'),
    budget: z
      .strictObject({ minutesPerDay: minutesPerDaySchema.default(null) })
      .prefault({})
      .describe('What sessions may cost.'),
    service: z
      .strictObject({
        caFile: optionalFile("Certificate authority of the service, PEM; null uses the system's."),
        hosts: z
          .array(hostSchema)
          .max(64)
          .default([])
          .describe(
            'Where streams may go: "name", "name:port", "*.name" or an IP address; empty: to any host with TLS.',
          ),
      })
      .prefault({})
      .describe('The translation service; its addresses come with each grant.'),
    audio: z
      .strictObject({
        unfixable: z
          .strictObject({
            command: commandSchema('Program and arguments, no shell; run at most once an hour.'),
            afterS: z
              .number()
              .min(LAST_RESORT_AFTER_S.min)
              .max(LAST_RESORT_AFTER_S.max)
              .default(LAST_RESORT_AFTER_S.default)
              .describe('Seconds of trouble without a break before it is run.'),
          })
          .nullable()
          .default(null)
          .describe(
            'What to run when a sound device has failed for long, such as a reboot; null for nothing.',
          ),
      })
      .prefault({})
      .describe('All sound devices together.'),
    log: z
      .strictObject({
        level: logLevelSchema.default('info'),
        journal: z
          .enum(['text', 'json'])
          .default('text')
          .describe("How lines look in systemd's journal: sentences for people, or JSON for programs."),
      })
      .prefault({})
      .describe('What is logged.'),
  })
  .describe('Configuration of a Dragoman device.');

export type Config = z.infer<typeof configSchema>;
export type LaneConfig = Config['lanes'][number];
export type CaptureConfig = LaneConfig['capture'];
export type PlaybackConfig = LaneConfig['playback'];

/** The keys marked `*` in config/example.jsonc: all that `config/desired` may hold. */
export const DESIRED_KEYS = {
  lanes: ['source', 'targets', 'voice', 'echo', 'start', 'standbyAfter'],
  budget: ['minutesPerDay'],
  log: ['level'],
} as const satisfies {
  lanes: readonly (keyof LaneConfig)[];
  budget: readonly (keyof Config['budget'])[];
  log: readonly (keyof Config['log'])[];
};
/** Likewise, but taken or refused as a whole. */
export const DESIRED_WHOLE = ['schedule'] as const satisfies readonly (keyof Config)[];

/** `{p}/config/desired`: the `*` keys, none of them required; a lane is named by its id, the first lane by none. */
export const desiredSchema = z.strictObject({
  lanes: z
    .array(z.strictObject({ id: nameSchema, ...desirable }).partial())
    .max(16)
    .optional(),
  schedule: scheduleSchema.nullable().optional(),
  budget: z.strictObject({ minutesPerDay: minutesPerDaySchema.optional() }).optional(),
  log: z.strictObject({ level: logLevelSchema.optional() }).optional(),
});
