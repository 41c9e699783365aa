/** `dragoman.json` on the boot partition: everything that a kiosk must know before it is reachable. */
import * as z from 'zod';
import { isObject } from './common/json.ts';
import { isPlain, PLAIN, withoutEditorMarks } from './common/plain-text.ts';
import { isTimeZone } from './config-hours.ts';
import { countryFault } from './country.ts';
import { isSshKeyLine, isWholeSshKey } from './ssh-key.ts';

/** Wi-Fi keys for unsupported features: WPA3-only networks and 802.1X logins. */
export const UNSUPPORTED_WIFI_KEYS: readonly string[] = [
  'security',
  'sae',
  'saePassword',
  'wpa3',
  'keyMgmt',
  'wep',
  'wepKey',
  'identity',
  'anonymousIdentity',
  'username',
  'password',
  'eap',
  'phase2',
  'enterprise',
  '8021x',
  '802.1x',
  'clientCert',
  'privateKey',
];

const SSID_BYTES = { min: 1, max: 32 } as const;
/** Length of a passphrase (bytes), from IEEE 802.11i. */
const PASSPHRASE_BYTES = { min: 8, max: 63 } as const;
const RAW_KEY = /^[0-9A-Fa-f]{64}$/;
const LONGEST_PEM = 100_000;
const LONGEST_PASSWORD = 1000;
const MOST_KEYS = 8;
const MOST_SSH_KEYS = 32;
const MOST_NAME_SERVERS = 3;

const bytesIn = (text: string): number => new TextEncoder().encode(text).length;
/** Whether the text has no unpaired surrogates; UTF-8 cannot encode them. */
const isWhole = (text: string): boolean => !/\p{Cs}/u.test(text);

/** Drops what editors add, because the text may have been copied from a file with a secret. */
const copiedSchema = z.string().overwrite(withoutEditorMarks);

const ssidSchema = copiedSchema.refine(
  (name) => isWhole(name) && bytesIn(name) >= SSID_BYTES.min && bytesIn(name) <= SSID_BYTES.max,
  `must have ${SSID_BYTES.min} to ${SSID_BYTES.max} bytes`,
);

const passphraseSchema = copiedSchema
  .refine(
    (text) =>
      RAW_KEY.test(text) ||
      (isWhole(text) && bytesIn(text) >= PASSPHRASE_BYTES.min && bytesIn(text) <= PASSPHRASE_BYTES.max),
    `must have ${PASSPHRASE_BYTES.min} to ${PASSPHRASE_BYTES.max} characters, or 64 hexadecimal digits`,
  )
  .refine(isPlain, PLAIN);

const wifiSchema = z.strictObject({
  ssid: ssidSchema,
  /** Missing: an open network. Null: the device has already removed it from the file. */
  passphrase: passphraseSchema.nullable().optional(),
  country: z
    .string()
    .regex(/^[A-Za-z]{2}$/, 'must be a country code of two letters, such as "DE"')
    .transform((text) => text.toUpperCase())
    .superRefine((code, context) => {
      const fault = countryFault(code);
      if (fault !== null) context.addIssue(fault);
    })
    .optional(),
  hidden: z.boolean().default(false),
});

const ipv4Schema = z.ipv4('must be an IPv4 address such as "192.168.1.1"');
/** Whether it can be the address of a machine: not 0, not loopback, and below the multicast and reserved ranges. */
const isMachines = (text: string): boolean => {
  const first = Number.parseInt(text, 10);
  return first > 0 && first !== 127 && first < 224;
};
/** Like `isMachines`, but loopback is allowed: a resolver may run on this machine. Another check reports invalid addresses. */
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
    .refine(isMachines, 'must be an address that a machine can have'),
  gateway: ipv4Schema.optional(),
  dns: z
    .union([nameServerSchema.transform((one) => [one]), z.array(nameServerSchema).max(MOST_NAME_SERVERS)], {
      error: 'must be an IPv4 address such as "192.168.1.1", or a list of at most three',
    })
    .default([]),
});
export type StaticAddress = z.infer<typeof staticAddressSchema>;

/** Reads "dhcp" or an object. Not a union, so that a problem within the object names its field. */
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

/** Form of a time zone name: a relative path in the folder of time zones. */
const ZONE = /^[A-Za-z0-9_+-]+(\/[A-Za-z0-9_+-]+)*$/;
const timeZoneSchema = z
  .string()
  .max(64)
  .refine((name) => ZONE.test(name) && isTimeZone(name), 'must be a time zone such as "Europe/Berlin"');

const pemSchema = copiedSchema.min(1).max(LONGEST_PEM);
const sshKeySchema = z
  .string()
  .transform((text) => text.trim())
  .refine(
    isSshKeyLine,
    'must be an OpenSSH public key on one line, such as "ssh-ed25519 AAAA... name", without options before it',
  )
  .refine(
    (text) => !isSshKeyLine(text) || isWholeSshKey(text),
    'is not a complete key: part of it is missing or changed; copy it again',
  );

const passwordSchema = copiedSchema
  .min(1)
  .max(LONGEST_PASSWORD)
  .refine(isPlain, PLAIN)
  .refine(isWhole, 'contains half a character: part of it is missing; enter it again');

/** Content of the file. A null secret means that the device has stored the secret and removed it from the file. */
export const provisioningSchema = z.strictObject({
  format: z.literal(1),
  wifi: wifiSchema.optional(),
  address: addressSchema.optional(),
  timeZone: timeZoneSchema.optional(),
  /** Checked later, together with the device's other configuration, by the schema of the configuration. */
  config: z.custom<Readonly<Record<string, unknown>>>(isObject, 'must be an object').optional(),
  secrets: z.strictObject({ 'mqtt-password': passwordSchema.nullable().optional() }).optional(),
  caPem: pemSchema.optional(),
  certPem: pemSchema.optional(),
  keyPem: pemSchema.nullable().optional(),
  ownerKeysPem: z.array(pemSchema).min(1).max(MOST_KEYS).optional(),
  /** Public keys of OpenSSH that may log in to the image. */
  sshKeys: z.array(sshKeySchema).max(MOST_SSH_KEYS).optional(),
});
export type ProvisioningDocument = z.infer<typeof provisioningSchema>;
export type WifiPart = z.infer<typeof wifiSchema>;
