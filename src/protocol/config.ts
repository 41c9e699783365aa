/**
 * The device's configuration. Types, checks, defaults and `config/schema.json` all derive from this schema.
 * Editors show these descriptions to operators.
 */
import * as z from 'zod';
import { languageClash, languageSchema, offerSchema, targetsSchema } from './common/language.ts';
import { plainTextSchema } from './common/plain-text.ts';
import {
  BARGE_IN_MODES,
  ECHO_MODES,
  LOG_LEVELS,
  mqttVersionSchema,
  START_MODES,
} from './common/setting-values.ts';
import { conversationSchema } from './config-conversation.ts';
import { pushToTalkSchema, roomIssues, roomsSchema, twoWayIssues, twoWaySchema } from './config-desk.ts';
import { answerWithinSchema, helpSchema } from './config-help.ts';
import { minutesPerDaySchema, scheduleSchema } from './config-hours.ts';
import { keysSchema } from './config-keys.ts';
import { phrasesSchema } from './config-phrases.ts';
import { operatorSchema, screenSchema } from './config-screen.ts';
import {
  captureSchema,
  commandSchema,
  fileSchema,
  headsetClash,
  headsetSchema,
  playbackSchema,
  volumeSchema,
} from './config-sound.ts';
import { updateConfigSchema, updateWindowSchema } from './config-update.ts';
import { hostSchema, isExposedAddress, readAddress } from './host-name.ts';
import { keyClashes } from './key-clashes.ts';
import { ownListenSchema } from './listen.ts';
import { deviceIdSchema, nameSchema, prefixSchema } from './mqtt/topics.ts';

const BROKER_SCHEMES = ['mqtt:', 'mqtts:', 'ws:', 'wss:'];

const STANDBY_AFTER_S = { max: 86_400, default: 120 } as const;
const ROLLOVER_LEAD_S = { min: 10, max: 300, default: 22 } as const;
const LAST_RESORT_AFTER_S = { min: 60, max: 86_400, default: 600 } as const;

const optionalFile = (description: string) => fileSchema.nullable().default(null).describe(description);

const brokerUrlSchema = plainTextSchema.superRefine((text, context) => {
  const url = readAddress(text);
  if (url === null || !BROKER_SCHEMES.includes(url.protocol) || url.hostname === '') {
    context.addIssue('must be an address such as "mqtts://broker.example:8883" (mqtt, mqtts, ws or wss)');
  } else if (url.username !== '' || url.password !== '') {
    context.addIssue('must not contain a user name or password: use "username" and "passwordFile"');
  } else if (url.port === '0') {
    context.addIssue('must not name port 0: choose the port of the broker');
  }
});

const deviceSchema = z
  .strictObject({
    id: deviceIdSchema.describe('Name of this device, unique within its tenant.'),
    tenant: nameSchema.describe('Owner of the device.'),
    groups: z
      .array(nameSchema)
      .max(16)
      .refine((names) => new Set(names).size === names.length, 'must not name a group twice')
      .default([])
      .describe(
        'Groups of the tenant that this device belongs to, such as "lobby". It also accepts commands to these groups.',
      ),
    label: plainTextSchema.max(120).default('').describe('Name of this device for people.'),
    site: plainTextSchema.max(120).default('').describe('Location of this device, for people.'),
  })
  .describe('Identity of this device on the broker.');

/** Runs a cross-key check even if one of the keys is invalid, so that all problems are listed at once. */
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
  'must be mqtts:// or wss://: without TLS anyone on the network path can redirect the microphone ("allowInsecure": true accepts this risk)';

const mqttSchema = z
  .strictObject({
    url: brokerUrlSchema.describe('Address of the broker: mqtt://, mqtts://, ws:// or wss://.'),
    allowInsecure: z
      .boolean()
      .default(false)
      .describe(
        'Allow mqtt:// or ws:// to another machine. Anyone on the network path can then read and change messages.',
      ),
    prefix: prefixSchema.default('dragoman/v1').describe('First levels of every topic.'),
    username: plainTextSchema.min(1).max(256).nullable().default(null).describe('User name for the broker.'),
    passwordFile: optionalFile('File that contains only the password for the broker.'),
    caFile: optionalFile("Certificate authority of the broker, PEM; null uses the system's."),
    certFile: optionalFile('Client certificate of this device, PEM.'),
    keyFile: optionalFile('Private key of the client certificate, PEM.'),
    version: mqttVersionSchema
      .default('auto')
      .describe(
        'MQTT 5, or 4 for MQTT 3.1.1. "auto" uses 4 for an hour if the broker answers that it does not know 5. It tries 4 once if three connections in a row end between CONNECT and CONNACK without a byte; if the broker then accepts, it uses 4 for a day. It does not do so if this broker (this mqtt.url) has ever accepted 5.',
      ),
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

/** Keys that an operator may change over MQTT (`config/desired`). No defaults: a missing key changes nothing. */
const desirable = {
  source: languageSchema.describe('Language of the speech at the microphone.'),
  targets: targetsSchema.describe('Languages of the translations, played in this order.'),
  voice: plainTextSchema
    .min(1)
    .max(128)
    .nullable()
    .describe('Voice of the translation: an id of the service; null: its default.'),
  echo: z
    .enum(ECHO_MODES)
    .describe(
      'Echo protection: ignore the microphone while the translation plays, cancel the echo, or do nothing.',
    ),
  start: z.enum(START_MODES).describe('Trigger of a session: power-on, a command, or a voice.'),
  standbyAfter: z
    .number()
    .min(0)
    .max(STANDBY_AFTER_S.max)
    .describe('Seconds without speech until the stream is closed to save cost; 0: never.'),
  volume: volumeSchema,
};
const logLevelSchema = z.enum(LOG_LEVELS).describe('Lowest level that is logged.');

const laneSchema = z.strictObject({
  id: nameSchema.default('main').describe('Name of the lane, unique on this device.'),
  capture: captureSchema.prefault({}),
  playback: playbackSchema.prefault({}),
  headset: headsetSchema,
  bargeIn: z
    .enum(BARGE_IN_MODES)
    .default('duck')
    .describe(
      'Reaction when a visitor speaks over the translation (echo "cancel"): lower its volume, or stop it.',
    ),
  earcons: z
    .boolean()
    .nullable()
    .default(null)
    .describe(
      'Short chimes for ready, connection lost and back, muted and unmuted; null: only on a real loudspeaker.',
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
      "Seconds before a session's limit at which the next session starts; it takes over in a pause of speech.",
    ),
  offer: offerSchema
    .default([])
    .describe('Languages that visitors may choose; empty: source and targets alone.'),
  twoWay: twoWaySchema.default('off'),
  pushToTalk: pushToTalkSchema.default(false),
});

const isListOfTexts = (value: unknown): value is string[] =>
  Array.isArray(value) && value.every((text) => typeof text === 'string');

const lanesSchema = z
  .array(laneSchema)
  .min(1, 'must contain at least one lane')
  .max(16)
  .superRefine((lanes, context) => {
    // This check also runs on lanes that failed another check.
    if (!Array.isArray(lanes)) return;
    const firsts = new Map<unknown, number>();
    for (const [index, lane] of lanes.entries()) {
      const { source, targets }: { source?: unknown; targets?: unknown } = lane ?? {};
      const areKnown = typeof source === 'string' && isListOfTexts(targets);
      const clash = areKnown ? languageClash(source, targets) : null;
      if (clash !== null) context.addIssue({ code: 'custom', path: [index, 'targets'], message: clash });
      for (const { path, message } of twoWayIssues(lane))
        context.addIssue({ code: 'custom', path: [index, ...path], message });
      const headset = headsetClash(lane);
      if (headset !== null) context.addIssue({ code: 'custom', path: [index, 'headset'], message: headset });
      const id = lane?.id;
      const first = firsts.get(id);
      if (first === undefined) firsts.set(id, index);
      if (first === undefined || typeof id !== 'string') continue;
      const message = `must be unique: lanes[${first}] has the same id`;
      context.addIssue({ code: 'custom', path: [index, 'id'], message });
    }
  }, DESPITE_OTHER_PROBLEMS)
  .describe('Lanes: each has one microphone, one loudspeaker and one stream.');

/** The complete configuration. Parsing fills in all defaults. */
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
            'Public keys of the owner, PEM. If set, answers to token requests must be signed with one of them.',
          ),
      })
      .prefault({})
      .describe('Keys by which the device recognises its owner.'),
    lanes: lanesSchema,
    screen: screenSchema,
    rooms: roomsSchema,
    keys: keysSchema,
    conversation: conversationSchema,
    help: helpSchema,
    phrases: phrasesSchema,
    update: updateConfigSchema,
    schedule: scheduleSchema.nullable().default(null).describe('Times when sessions may run; null: always.'),
    budget: z
      .strictObject({ minutesPerDay: minutesPerDaySchema.default(null) })
      .prefault({})
      .describe('Cost limit.'),
    service: z
      .strictObject({
        caFile: optionalFile("Certificate authority of the service, PEM; null uses the system's."),
        hosts: z
          .array(hostSchema)
          .max(64)
          .default([])
          .describe(
            'Hosts that streams may connect to: "name", "name:port", "*.name" or an IP address; empty: any host with TLS.',
          ),
      })
      .prefault({})
      .describe('The translation service. Its address comes with each token.'),
    audio: z
      .strictObject({
        unfixable: z
          .strictObject({
            command: commandSchema('Program and arguments, no shell; runs at most once an hour.'),
            afterS: z
              .number()
              .min(LAST_RESORT_AFTER_S.min)
              .max(LAST_RESORT_AFTER_S.max)
              .default(LAST_RESORT_AFTER_S.default)
              .describe('Seconds of continuous failure before it runs.'),
          })
          .nullable()
          .default(null)
          .describe('Program to run after a long failure of a sound device, such as a reboot; null: none.'),
      })
      .prefault({})
      .describe('Settings for all sound devices.'),
    metrics: z
      .strictObject({
        listen: ownListenSchema.describe(
          'Address of /metrics for Prometheus on this machine, such as "127.0.0.1:9465"; other machines cannot reach it. null: none.',
        ),
      })
      .prefault({})
      .describe('Figures for programs that watch this device.'),
    log: z
      .strictObject({
        level: logLevelSchema.default('info'),
        journal: z
          .enum(['text', 'json'])
          .default('text')
          .describe("Format of log lines in systemd's journal: text for people, or JSON for programs."),
      })
      .prefault({})
      .describe('Log settings.'),
  })
  .superRefine(({ rooms, lanes, keys }, context) => {
    for (const { path, message } of [...roomIssues(rooms, lanes), ...keyClashes(keys, lanes)])
      context.addIssue({ code: 'custom', path, message });
  }, DESPITE_OTHER_PROBLEMS)
  .describe('Configuration of a Dragoman device.');

export type Config = z.infer<typeof configSchema>;
export type LaneConfig = Config['lanes'][number];
export type CaptureConfig = LaneConfig['capture'];
export type PlaybackConfig = LaneConfig['playback'];

/** Keys that `config/desired` may contain; config/example.jsonc marks them with `*`. */
export const DESIRED_KEYS = {
  lanes: ['source', 'targets', 'voice', 'echo', 'start', 'standbyAfter', 'volume'],
  budget: ['minutesPerDay'],
  help: ['answerWithin'],
  update: ['window'],
  log: ['level'],
  screen: ['operator'],
} as const satisfies {
  /** `volume` is a key of `playback`. */
  lanes: readonly (keyof LaneConfig | 'volume')[];
  budget: readonly (keyof Config['budget'])[];
  help: readonly (keyof Config['help'])[];
  update: readonly (keyof Config['update'])[];
  log: readonly (keyof Config['log'])[];
  screen: readonly (keyof Config['screen'])[];
};
/** Keys of `config/desired` that are accepted or refused as a whole. */
export const DESIRED_WHOLE = ['schedule'] as const satisfies readonly (keyof Config)[];

/** `{p}/config/desired`: the `*` keys, all optional. An entry without an id is for the first lane. */
export const desiredSchema = z.strictObject({
  lanes: z
    .array(z.strictObject({ id: nameSchema, ...desirable }).partial())
    .max(16)
    .optional(),
  schedule: scheduleSchema.nullable().optional(),
  budget: z.strictObject({ minutesPerDay: minutesPerDaySchema.optional() }).optional(),
  help: z.strictObject({ answerWithin: answerWithinSchema.optional() }).optional(),
  update: z.strictObject({ window: updateWindowSchema.optional() }).optional(),
  log: z.strictObject({ level: logLevelSchema.optional() }).optional(),
  screen: z.strictObject({ operator: operatorSchema.optional() }).optional(),
});
