/** The backend's configuration. Types, checks, defaults and environment variables all derive from this schema. */
import * as z from 'zod';
import { consoleSchema } from './backend-console.ts';
import { isPlain, plainTextSchema } from './common/plain-text.ts';
import { LOG_LEVELS } from './common/setting-values.ts';
import { configSchema, DESPITE_OTHER_PROBLEMS } from './config.ts';
import { isExposedAddress } from './host-name.ts';
import { listenSchema } from './listen.ts';
import { BACKEND_GROUP, deviceIdSchema, nameSchema } from './mqtt/topics.ts';
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
  .refine((text) => !/[\p{Cc}\s]/u.test(text), 'must not contain a blank or a control character: remove it')
  .refine(
    (text) => !URL.canParse(text) || (new URL(text).username === '' && new URL(text).password === ''),
    'must not contain a user name or a password: remove it, the token is enough',
  )
  .refine(
    (text) => !text.includes('#'),
    'must not contain "#", which WebSocket addresses do not allow: remove it',
  )
  .refine((text) => !/[?&]token=/.test(text), 'must not contain a token: the device adds it');

const serviceSchema = z
  .strictObject({
    url: serviceUrlSchema.describe(
      'HTTP address of the translation service: {base_url} in its specification.',
    ),
    allowInsecure: z
      .boolean()
      .default(false)
      .describe('Allow http:// to another machine. Anyone on the network path can then read the API key.'),
    streamUrl: streamUrlSchema.describe(
      'Address at which devices open streams; each device replaces {random_hash}.',
    ),
    apiKeyFile: optionalFile('File or systemd credential that contains only the account API key.'),
    jwtFile: optionalFile('File or systemd credential with the account JWT, for voice cloning.'),
    caFile: optionalFile("Certificate authority of the service, PEM; null uses the system's."),
    timeout: z
      .number()
      .min(1)
      .max(120)
      .default(10)
      .describe('Timeout for an answer of the service, seconds.'),
  })
  .superRefine(({ url, allowInsecure, streamUrl }, context) => {
    const issue = (key: string, message: string): void =>
      context.addIssue({ code: 'custom', path: [key], message });
    if (serviceUrlSchema.safeParse(url).success && allowInsecure !== true && isExposedAddress(url))
      issue(
        'url',
        'must be https://: without TLS anyone on the network path can read the API key ("allowInsecure": true accepts this risk)',
      );
    if (streamUrlSchema.safeParse(streamUrl).success && isExposedAddress(streamUrl))
      issue('streamUrl', 'must be wss://: devices never send their token to another machine without TLS');
  }, DESPITE_OTHER_PROBLEMS);

/** Default maximum session duration (seconds): limits the cost of a stream that someone forgets to stop. */
const DEFAULT_MAX_DURATION_S = 1800;

/** Terms of a session. Each one is sent as the field of that name in docs/service.md 4.1. */
const terms = {
  expiresInSeconds: z
    .int()
    .min(SESSION_LIMITS.expiresIn.min)
    .max(SESSION_LIMITS.expiresIn.max)
    .describe('Seconds within which the device must open the stream.'),
  singleUse: z.boolean().describe('Each token opens only one stream.'),
  maxSessionDurationSeconds: z
    .int()
    .min(SESSION_LIMITS.maxDuration.min)
    .max(SESSION_LIMITS.maxDuration.max)
    .nullable()
    .describe('Maximum duration of a stream, seconds; null: no limit.'),
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

/** Limits for one device. */
const allowance = {
  lanes: z.int().min(1).max(16).describe('Maximum number of lanes with a session, per device.'),
  sessionsAtOnce: z
    .int()
    .min(2)
    .max(64)
    .describe(
      'Maximum number of concurrent sessions per device: one per lane, and one extra during a rollover.',
    ),
  sessionsPerHour: z.int().min(1).max(3600).describe('Maximum number of sessions per device and hour.'),
};

const exceptions = {
  disabled: z.boolean().optional().describe('The device gets no tokens.'),
  site: plainTextSchema
    .min(1)
    .max(120)
    .optional()
    .describe('Location of the device, for "bill --by site", the console and the webhook.'),
  session: z.strictObject(terms).partial().default({}).describe('Terms that override "session".'),
  limits: z.strictObject(allowance).partial().default({}).describe('Limits that override "limits".'),
};
const deviceSchema = z.strictObject(exceptions);
const groupSchema = z.strictObject({
  name: nameSchema.describe('Name of the group, for display.'),
  minutesPerMonth: z
    .number()
    .positive()
    .optional()
    .describe('Budget of the group; "bill --by group" warns from 80 % on.'),
  members: z.array(patternSchema).min(1).describe('Member devices: "museum/kiosk-01", "museum/lobby-*".'),
  ...exceptions,
});

/** Path that stands for a store in memory. */
export const MEMORY_STORE = ':memory:';

const storeSchema = z
  .strictObject({
    path: plainTextSchema
      .min(1, 'must name a file')
      .max(4096)
      .default(MEMORY_STORE)
      .describe(
        'SQLite file on this machine, absolute or relative to the folder of this configuration; ":memory:" keeps nothing over a restart and shares nothing with other backends.',
      ),
    url: z
      .string()
      .refine(
        (text) =>
          URL.canParse(text) &&
          ['postgres:', 'postgresql:'].includes(new URL(text).protocol) &&
          new URL(text).hostname !== '' &&
          new URL(text).pathname.length > 1,
        'must be an address such as "postgres://dragoman@db.example/dragoman"',
      )
      .refine(
        (text) => !URL.canParse(text) || new URL(text).password === '',
        'must not contain a password: put it into a file, and name that in store.passwordFile',
      )
      .nullable()
      .default(null)
      .describe('PostgreSQL 15 or newer, for backends on several machines; replaces "path".'),
    passwordFile: optionalFile('File or systemd credential with the password for "url".'),
  })
  .superRefine(({ url, passwordFile }, context) => {
    if (url === null && passwordFile !== null)
      context.addIssue({
        code: 'custom',
        path: ['passwordFile'],
        message: 'belongs to "url", which is not set',
      });
  }, DESPITE_OTHER_PROBLEMS);

const limitsSchema = z.strictObject({
  lanes: allowance.lanes.default(2),
  sessionsAtOnce: allowance.sessionsAtOnce.default(3),
  sessionsPerHour: allowance.sessionsPerHour.default(60),
  burst: z.int().min(1).max(1000).default(8).describe('Maximum burst of requests per device.'),
  perMinute: z.int().min(1).max(6000).default(12).describe('Sustained requests per device and minute.'),
  concurrency: z
    .int()
    .min(1)
    .max(256)
    .default(16)
    .describe('Maximum number of concurrent requests to the service.'),
  createsPerSecond: z
    .number()
    .min(0.1)
    .max(1000)
    .default(5)
    .describe('Sessions that this backend creates per second, for all devices together.'),
  pendingSessions: z
    .int()
    .min(4)
    .max(100_000)
    .default(200)
    .describe(
      "Maximum number of sessions that are created and, as far as this backend knows, not used: at most the account's own limit. One device gets at most half of them, and all new devices together also get at most half.",
    ),
});

const webhookSchema = z.strictObject({
  url: z
    .string()
    .refine(
      (text) => hasScheme(text, ['https:', 'http:']),
      'must be an address such as "https://alerts.example/dragoman", without user name',
    )
    .refine(
      (text) => !isExposedAddress(text),
      'must be https:// on another machine: the messages name devices and their troubles',
    )
    .describe('Address that receives each message by POST. Redirects are not followed.'),
  secretFile: plainTextSchema
    .min(1, 'must name a file')
    .max(4096)
    .describe('File or systemd credential with the secret that signs each message.'),
});

export const backendConfigSchema = z
  .strictObject({
    mqtt: configSchema.shape.mqtt.safeExtend({
      clientId: plainTextSchema
        .min(1)
        .max(128)
        .nullable()
        .default(null)
        .describe('Client identifier on the broker; null: a random one at each start.'),
      shareGroup: z
        .string()
        .regex(/^[\w-]{1,128}$/, 'must be 1 to 128 letters, digits, "_" or "-"')
        .default(BACKEND_GROUP)
        .describe(
          'Group name of the shared subscription, the same on all backends. Keep it secret if any client can join the group.',
        ),
    }),
    service: serviceSchema.describe('The translation service.'),
    signingKeyFile: optionalFile(
      'File or systemd credential with the private key that signs answers, PEM; "keys create" makes one.',
    ),
    session: sessionSchema.prefault({}).describe('Terms of the sessions that devices get.'),
    allow: z.array(patternSchema).min(1).describe('Devices that get tokens: "tenant/device", "tenant/*".'),
    groups: z
      .array(groupSchema)
      .max(1000)
      .default([])
      .describe('Exceptions for several devices. If a device is in several groups, the last one wins.'),
    devices: z
      .record(deviceNameSchema, deviceSchema)
      .default({})
      .describe('Exceptions by "tenant/device"; they override those of groups.'),
    limits: limitsSchema.prefault({}).describe('Limits per device, and limits on requests to the service.'),
    store: storeSchema
      .prefault({})
      .describe(
        'What the backend keeps: sessions and limits; never tokens. Several backends share one store.',
      ),
    metrics: z
      .strictObject({
        listen: listenSchema.describe(
          'Address of /metrics, /healthz and /readyz, such as "127.0.0.1:9464"; null: none. Anyone who can reach it can read them.',
        ),
      })
      .prefault({})
      .describe('For programs that watch this backend.'),
    console: consoleSchema.prefault({}).describe("The owner's console in a browser; see docs/console.md."),
    webhook: webhookSchema
      .nullable()
      .default(null)
      .describe('Webhook URL for alerts and their resolution; null: no webhook.'),
    releases: z
      .strictObject({
        path: optionalFile(
          'Folder of a repository for apt, made by scripts/release, absolute or relative to the folder of this configuration; served below /releases/; null: none.',
        ),
        listen: listenSchema.describe(
          'Address of /releases/ alone, such as "0.0.0.0:9465"; null: metrics.listen serves it, too. Anyone who can reach it can read the files.',
        ),
      })
      .prefault({})
      .describe('New versions for the devices.'),
    log: z
      .strictObject({ level: z.enum(LOG_LEVELS).default('info') })
      .prefault({})
      .describe('Log settings.'),
  })
  .superRefine(({ metrics, releases, console: page, store }, context) => {
    const issue = (path: string[], message: string): void =>
      context.addIssue({ code: 'custom', path, message });
    if (releases?.path != null && metrics?.listen === null && releases.listen === null)
      issue(
        ['releases', 'path'],
        'needs "releases.listen" or "metrics.listen", the address at which the files are served',
      );
    if (releases?.path === null && releases.listen !== null)
      issue(['releases', 'listen'], 'needs "releases.path", the folder that it serves');
    const isOpen = (page?.listen ?? null) !== null;
    if (isOpen && store?.url === null && store.path === MEMORY_STORE)
      issue(['console', 'listen'], 'needs a store that keeps its people: set store.path or store.url');
  }, DESPITE_OTHER_PROBLEMS);

export type BackendConfig = z.infer<typeof backendConfigSchema>;
/** The input form: everything with a default is optional. */
export type BackendConfigInput = z.input<typeof backendConfigSchema>;
