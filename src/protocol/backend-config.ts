/** The backend's configuration: this one schema is the source of the types, the checks, the defaults and the variables. */
import { z } from 'zod';
import { configSchema, DESPITE_OTHER_PROBLEMS, LOG_LEVELS } from './config.ts';
import { isExposedAddress } from './host.ts';
import { BACKEND_GROUP, deviceIdSchema, nameSchema } from './mqtt/topics.ts';
import { isPlain, plainTextSchema } from './plain-text.ts';
import { connectionTypeSchema, intentSchema, SESSION_LIMITS } from './service/session.ts';

const optionalFile = (description: string) =>
  plainTextSchema.min(1, 'must name a file').max(4096).nullable().default(null).describe(description);

const hasScheme = (text: string, schemes: readonly string[]): boolean =>
  isPlain(text) &&
  URL.canParse(text) &&
  schemes.includes(new URL(text).protocol) &&
  new URL(text).username === '' &&
  new URL(text).port !== '0';

const serviceUrlSchema = z
  .string()
  .refine(
    (text) => hasScheme(text, ['https:', 'http:']),
    'must be an address such as "https://api.example", without user name',
  )
  .transform((text) => text.replace(/\/+$/, ''));

const streamUrlSchema = z
  .string()
  .refine((text) => hasScheme(text, ['wss:', 'ws:']), 'must be an address that begins with wss:// or ws://')
  .refine((text) => !/[\p{Cc}\s]/u.test(text), 'must not hold a blank or a control character: remove it')
  .refine(
    (text) => !URL.canParse(text) || (new URL(text).username === '' && new URL(text).password === ''),
    'must not hold a user name or a password before the host: remove it, the token is enough',
  )
  .refine((text) => !text.includes('#'), 'must not hold a "#", which no WebSocket address may: remove it')
  .refine((text) => !/[?&]token=/.test(text), 'must not hold a token: the device adds it');

const serviceSchema = z
  .strictObject({
    url: serviceUrlSchema.describe(
      'HTTP address of the translation service, {base_url} of its specification.',
    ),
    allowInsecure: z
      .boolean()
      .default(false)
      .describe('Let http:// leave this machine, where anybody on the way can read the API key.'),
    streamUrl: streamUrlSchema.describe(
      'Where devices open streams; {random_hash} stands for what each device fills in.',
    ),
    apiKeyFile: optionalFile('File or systemd credential that holds the account API key, and nothing else.'),
    jwtFile: optionalFile('File or systemd credential that holds the account JWT, for voice cloning.'),
    caFile: optionalFile("Certificate authority of the service, PEM; null uses the system's."),
    timeout: z
      .number()
      .min(1)
      .max(120)
      .default(10)
      .describe('Seconds that the service may take for an answer.'),
  })
  .superRefine(({ url, allowInsecure, streamUrl }, context) => {
    const issue = (key: string, message: string): void =>
      context.addIssue({ code: 'custom', path: [key], message });
    if (serviceUrlSchema.safeParse(url).success && allowInsecure !== true && isExposedAddress(url))
      issue(
        'url',
        'must be https://: in clear anybody on the way can read the API key ("allowInsecure": true beside it takes the risk)',
      );
    if (streamUrlSchema.safeParse(streamUrl).success && isExposedAddress(streamUrl))
      issue('streamUrl', 'must be wss://: no device sends its token in clear to another machine');
  }, DESPITE_OTHER_PROBLEMS);

/** A stream that is forgotten must not cost for longer. */
const DEFAULT_MAX_DURATION_S = 1800;

/** Terms of a session; each becomes the field of the same name of docs/service.md 4.1. */
const terms = {
  expiresInSeconds: z
    .int()
    .min(SESSION_LIMITS.expiresIn.min)
    .max(SESSION_LIMITS.expiresIn.max)
    .describe('Seconds within which the device must open the stream.'),
  singleUse: z.boolean().describe('The token opens one stream only.'),
  maxSessionDurationSeconds: z
    .int()
    .min(SESSION_LIMITS.maxDuration.min)
    .max(SESSION_LIMITS.maxDuration.max)
    .nullable()
    .describe('Longest stream, seconds; null: no limit.'),
  intents: z.array(intentSchema).min(1).describe('Products that devices may use.'),
  connectionTypes: z.array(connectionTypeSchema).min(1).describe('Transports that devices may use.'),
};

const sessionSchema = z.strictObject({
  expiresInSeconds: terms.expiresInSeconds.default(SESSION_LIMITS.expiresIn.min),
  singleUse: terms.singleUse.default(true),
  maxSessionDurationSeconds: terms.maxSessionDurationSeconds.default(DEFAULT_MAX_DURATION_S),
  intents: terms.intents.default(['s2s']),
  connectionTypes: terms.connectionTypes.default(['ws']),
});

const deviceNameSchema = z
  .string()
  .refine(
    (text) =>
      text.split('/').length === 2 &&
      nameSchema.safeParse(text.split('/')[0]).success &&
      deviceIdSchema.safeParse(text.split('/')[1]).success,
    'must be "tenant/device"',
  );
const patternSchema = z
  .string()
  .regex(
    /^[a-z0-9*-]{1,64}\/[a-z0-9*-]{1,64}$/,
    'must be "tenant/device", such as "museum/lobby-*"; "*" stands for any characters',
  );

/** What one device may cost. */
const allowance = {
  lanes: z.int().min(1).max(16).describe('Lanes of a device that have sessions.'),
  sessionsAtOnce: z
    .int()
    .min(2)
    .max(64)
    .describe('Sessions of a device at once: one for each lane, and one more while a lane changes over.'),
  sessionsPerHour: z.int().min(1).max(3600).describe('Sessions of a device within an hour.'),
};

const exceptions = {
  disabled: z.boolean().optional().describe('Gets no tokens.'),
  session: z.strictObject(terms).partial().default({}).describe('Terms that differ from "session".'),
  limits: z.strictObject(allowance).partial().default({}).describe('Limits that differ from "limits".'),
};
const deviceSchema = z.strictObject(exceptions);
const groupSchema = z.strictObject({
  name: nameSchema.describe('Name of the group, for people.'),
  members: z.array(patternSchema).min(1).describe('Its devices: "museum/kiosk-01", "museum/lobby-*".'),
  ...exceptions,
});

const limitsSchema = z.strictObject({
  lanes: allowance.lanes.default(2),
  sessionsAtOnce: allowance.sessionsAtOnce.default(3),
  sessionsPerHour: allowance.sessionsPerHour.default(60),
  burst: z.int().min(1).max(1000).default(8).describe('Requests that a device may make at once.'),
  perMinute: z
    .int()
    .min(1)
    .max(6000)
    .default(12)
    .describe('Requests that a device may make in the long run.'),
  concurrency: z.int().min(1).max(256).default(16).describe('Requests to the service at once.'),
  createsPerSecond: z
    .number()
    .min(0.1)
    .max(1000)
    .default(5)
    .describe('Sessions that this backend makes in a second, for all devices together.'),
  pendingSessions: z
    .int()
    .min(4)
    .max(100_000)
    .default(200)
    .describe(
      'Sessions of all devices that are made and not used yet. One device, or all that have had no session before, get half of it at most.',
    ),
});

export const backendConfigSchema = z.strictObject({
  mqtt: configSchema.shape.mqtt.safeExtend({
    clientId: plainTextSchema
      .min(1)
      .max(128)
      .nullable()
      .default(null)
      .describe('Client identifier on the broker; null makes one up for each start.'),
    shareGroup: z
      .string()
      .regex(/^[\w-]{1,128}$/, 'must be 1 to 128 letters, digits, "_" or "-"')
      .default(BACKEND_GROUP)
      .describe(
        'Group of the shared subscription; the same for all backends. A secret one where the broker lets anybody join.',
      ),
  }),
  service: serviceSchema.describe('The translation service.'),
  signingKeyFile: optionalFile(
    'File or systemd credential with the private key that answers are signed with, PEM; "keys create" makes one.',
  ),
  session: sessionSchema.prefault({}).describe('Terms of the sessions that devices get.'),
  allow: z.array(patternSchema).min(1).describe('Devices that may have tokens: "tenant/device", "tenant/*".'),
  groups: z
    .array(groupSchema)
    .max(1000)
    .default([])
    .describe('Exceptions for several devices; where a device is in several groups, the later one counts.'),
  devices: z
    .record(deviceNameSchema, deviceSchema)
    .default({})
    .describe('Exceptions, by "tenant/device"; they count more than those of groups.'),
  limits: limitsSchema.prefault({}).describe('What a device may ask for, and the service may be asked for.'),
  log: z
    .strictObject({ level: z.enum(LOG_LEVELS).default('info') })
    .prefault({})
    .describe('What is logged.'),
});

export type BackendConfig = z.infer<typeof backendConfigSchema>;
/** What a caller writes: everything that has a default may be left out. */
export type BackendConfigInput = z.input<typeof backendConfigSchema>;
