/** `dragoman.json` on the boot partition: all that a kiosk needs to be told before anybody can reach it. */
import { z } from 'zod';
import { isTimeZone } from './config-hours.ts';
import { isObject } from './json.ts';
import { isPlain, PLAIN } from './plain-text.ts';
import { isSshKeyLine, isWholeSshKey } from './ssh-key.ts';

/** Keys of a Wi-Fi network that ask for what is not supported: WPA3 alone, and logins by 802.1X. */
export const UNSUPPORTED_WIFI_KEYS: readonly string[] = [
  ...['security', 'sae', 'saePassword', 'wpa3', 'keyMgmt', 'wep', 'wepKey'],
  ...[
    'identity',
    'anonymousIdentity',
    'username',
    'password',
    'eap',
    'phase2',
    'enterprise',
    '8021x',
    '802.1x',
  ],
  ...['clientCert', 'privateKey'],
];

const SSID_BYTES = { min: 1, max: 32 } as const;
/** IEEE 802.11i, counted in bytes. */
const PASSPHRASE_BYTES = { min: 8, max: 63 } as const;
const RAW_KEY = /^[0-9A-Fa-f]{64}$/;
const LONGEST_PEM = 100_000;
const LONGEST_PASSWORD = 1000;
const MOST_KEYS = 8;
const MOST_SSH_KEYS = 32;
const MOST_NAME_SERVERS = 3;

const bytesIn = (text: string): number => new TextEncoder().encode(text).length;
/** Half of a surrogate pair has no bytes of its own. */
const isWhole = (text: string): boolean => !/\p{Cs}/u.test(text);

const ssidSchema = z
  .string()
  .refine(
    (name) => isWhole(name) && bytesIn(name) >= SSID_BYTES.min && bytesIn(name) <= SSID_BYTES.max,
    `must have ${SSID_BYTES.min} to ${SSID_BYTES.max} bytes`,
  );

const passphraseSchema = z
  .string()
  .refine(
    (text) =>
      RAW_KEY.test(text) ||
      (isWhole(text) && bytesIn(text) >= PASSPHRASE_BYTES.min && bytesIn(text) <= PASSPHRASE_BYTES.max),
    `must have ${PASSPHRASE_BYTES.min} to ${PASSPHRASE_BYTES.max} characters, or 64 hexadecimal digits`,
  )
  .refine(isPlain, PLAIN);

const wifiSchema = z.strictObject({
  ssid: ssidSchema,
  /** Left out: an open network. Null: the one that was taken out of the file. */
  passphrase: passphraseSchema.nullable().optional(),
  country: z
    .string()
    .regex(/^[A-Za-z]{2}$/, 'must be the two letters of a country, such as "DE"')
    .transform((text) => text.toUpperCase())
    .optional(),
  hidden: z.boolean().default(false),
});

const ipv4Schema = z.ipv4('must be an IPv4 address such as "192.168.1.1"');
/** Of one machine, and not only within this one; groups and what is reserved lie above. */
const isMachines = (text: string): boolean => {
  const first = Number.parseInt(text, 10);
  return first > 0 && first !== 127 && first < 224;
};
/** This machine's own may be named: a resolver may run on it. What is no address at all is told already. */
const isServers = (text: string): boolean =>
  !z.ipv4().safeParse(text).success || isMachines(text) || text.startsWith('127.');
const nameServerSchema = ipv4Schema.refine(isServers, 'must be the address of a server');
const staticAddressSchema = z.strictObject({
  address: z
    .string()
    .refine((text) => /\/([1-9]|[12]\d|30)$/.test(text) && z.cidrv4().safeParse(text).success, {
      error: 'must be an IPv4 address and the length of its network, such as "192.168.1.20/24"',
      abort: true,
    })
    .refine(isMachines, 'must be an address that a machine may have'),
  gateway: ipv4Schema.optional(),
  dns: z
    .union([nameServerSchema.transform((one) => [one]), z.array(nameServerSchema).max(MOST_NAME_SERVERS)], {
      error: 'must be an IPv4 address such as "192.168.1.1", or a list of at most three',
    })
    .default([]),
});
export type StaticAddress = z.infer<typeof staticAddressSchema>;

/** Either form by its own rules, so that what is wrong in an address is named by its field. */
const addressSchema = z.unknown().transform((value, context): 'dhcp' | StaticAddress => {
  if (typeof value === 'string') {
    if (value !== 'dhcp')
      context.addIssue('must be "dhcp", or an object with "address", "gateway" and "dns"');
    return 'dhcp';
  }
  const read = staticAddressSchema.safeParse(value);
  if (read.success) return read.data;
  for (const issue of read.error.issues) context.addIssue({ ...issue } as never);
  return z.NEVER;
});

/** Part of a path below the folder of time zones. */
const ZONE = /^[A-Za-z0-9_+-]+(\/[A-Za-z0-9_+-]+)*$/;
const timeZoneSchema = z
  .string()
  .max(64)
  .refine((name) => ZONE.test(name) && isTimeZone(name), 'must be a time zone such as "Europe/Berlin"');

const pemSchema = z.string().min(1).max(LONGEST_PEM);
const sshKeySchema = z
  .string()
  .transform((text) => text.trim())
  .refine(
    isSshKeyLine,
    'must be a public key of OpenSSH in one line, such as "ssh-ed25519 AAAA... name", without options before it',
  )
  .refine(
    (text) => !isSshKeyLine(text) || isWholeSshKey(text),
    'is no whole key: part of it is missing or changed',
  );

const passwordSchema = z
  .string()
  .min(1)
  .max(LONGEST_PASSWORD)
  .refine(isPlain, PLAIN)
  .refine(isWhole, 'holds half a letter: part of it is missing');

/** As it stands in the file. A secret that is null was taken out of the file: the device has it. */
export const provisioningSchema = z.strictObject({
  format: z.literal(1),
  wifi: wifiSchema.optional(),
  address: addressSchema.optional(),
  timeZone: timeZoneSchema.optional(),
  /** Checked with all that is on the device: see the configuration's own schema. */
  config: z.custom<Readonly<Record<string, unknown>>>(isObject, 'must be an object').optional(),
  secrets: z.strictObject({ 'mqtt-password': passwordSchema.nullable().optional() }).optional(),
  caPem: pemSchema.optional(),
  certPem: pemSchema.optional(),
  keyPem: pemSchema.nullable().optional(),
  ownerKeysPem: z.array(pemSchema).min(1).max(MOST_KEYS).optional(),
  /** Who may log in to the image: public keys of OpenSSH. */
  sshKeys: z.array(sshKeySchema).max(MOST_SSH_KEYS).optional(),
});
export type ProvisioningDocument = z.infer<typeof provisioningSchema>;
export type WifiPart = z.infer<typeof wifiSchema>;
