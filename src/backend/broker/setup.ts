/** The content of `setup.json`, from which all other files of a broker's set-up are generated. */
import * as z from 'zod';
import { deviceIdSchema, nameSchema, prefixSchema } from '../../protocol/mqtt/topics.ts';
import { type Access, backendAccess, deviceAccess, personAccess, ROLES } from './access.ts';

/** `acl`: access list and password files (mosquitto 2.0). `dynsec`: the dynamic security plugin (2.0 and 2.1). */
export const FORMS = ['dynsec', 'acl'] as const;
export const DEVICE_LOGINS = ['password', 'certificate'] as const;

const base64 = z.base64();
/** PBKDF2 with SHA-512. The password itself is only in the login folder. */
const hashSchema = z.strictObject({
  iterations: z.int().min(1).max(10_000_000),
  salt: base64,
  hash: base64,
});
export type PasswordHash = z.infer<typeof hashSchema>;

const portSchema = z.int().min(1).max(65_535);

/** A host name or an IP address. It cannot contain characters that end a line of configuration. */
export const hostSchema = z
  .string()
  .regex(/^[A-Za-z0-9:]([A-Za-z0-9.:-]{0,251}[A-Za-z0-9])?$/, 'must be a host name or an IP address');

/** A path without spaces, absolute or relative: mosquitto's configuration has it without quotes. */
export const pathSchema = z
  .string()
  .regex(/^[\w./@+-]{1,500}$/, 'must be a path without spaces, of letters, digits and "._-/@+"');

/** Without a dot: a dot marks the names of devices. */
export const personNameSchema = z
  .string()
  .regex(/^[a-z0-9-]{1,64}$/, 'must be 1 to 64 of the characters a-z, 0-9 and "-"')
  .refine((name) => name !== 'backend', 'must not be "backend": the name is reserved');

/** File name of an authority, without extension. */
const authorityNameSchema = z.string().regex(/^ca(-\d{1,3})?$/);

const issuedSchema = z.strictObject({
  /** Hexadecimal, as in revocation lists. */
  serial: z.string().regex(/^[0-9A-F]{2,40}$/),
  validTo: z.iso.datetime(),
  /** The authority that issued it. */
  by: authorityNameSchema.default('ca'),
});
export type IssuedCertificate = z.infer<typeof issuedSchema>;

const deviceSchema = z.strictObject({
  tenant: nameSchema,
  device: deviceIdSchema,
  groups: z.array(nameSchema).max(50),
  /** Whether it is locked out: it may not log in or, with a certificate, may log in but reaches no topic. */
  disabled: z.boolean(),
  /** Null: it has a certificate. */
  password: hashSchema.nullable(),
  /** Issued certificates that have not expired; they are revoked when the board is replaced. */
  certificates: z.array(issuedSchema).max(1000).default([]),
});
export type SetupDevice = z.infer<typeof deviceSchema>;

export const setupSchema = z.strictObject({
  format: z.literal(1),
  form: z.enum(FORMS),
  deviceLogin: z.enum(DEVICE_LOGINS),
  host: hostSchema,
  /** Address on which the broker listens; null: all addresses of its machine. */
  listen: hostSchema.nullable(),
  devicePort: portSchema,
  peoplePort: portSchema,
  /** Path of the folder `broker` on the broker's machine. */
  installedAt: pathSchema,
  pluginFile: pathSchema,
  prefix: prefixSchema,
  tenant: nameSchema,
  backend: z.strictObject({
    password: hashSchema,
    /** Group of the shared subscription; random. With an access list, any client that knew the group could join it. */
    shareGroup: z.string().regex(/^[\w-]{1,128}$/),
  }),
  /** The first one issues certificates; those of both are valid. There are two only during a change of authority. */
  authorities: z.array(authorityNameSchema).min(1).max(2).default(['ca']),
  /** Revoked certificates, and the signed list of them that the broker reads (PEM); null: none. */
  revoked: z
    .strictObject({ certificates: z.array(issuedSchema), list: z.string() })
    .nullable()
    .default(null),
  people: z.array(z.strictObject({ name: personNameSchema, role: z.enum(ROLES), password: hashSchema })),
  devices: z.array(deviceSchema),
});
export type Setup = z.infer<typeof setupSchema>;

/** A login. */
export interface Account {
  readonly username: string;
  readonly kind: 'device' | 'backend' | 'person';
  /** The only client identifier that the login may use; null: any. */
  readonly clientId: string | null;
  readonly password: PasswordHash | null;
  readonly access: Access;
}

export const BACKEND_NAME = 'backend';

export function deviceName({ tenant, device }: Pick<SetupDevice, 'tenant' | 'device'>): string {
  return `${tenant}.${device}`;
}

/** All logins, the devices last. */
export function accountsOf({ prefix, tenant, backend, people, devices }: Setup): Account[] {
  return [
    {
      username: BACKEND_NAME,
      kind: 'backend',
      clientId: null,
      password: backend.password,
      access: backendAccess(prefix, backend.shareGroup),
    },
    ...people.map(({ name, role, password }): Account => {
      const access = personAccess(role, prefix, tenant);
      return { username: name, kind: 'person', clientId: null, password, access };
    }),
    ...devices.flatMap((one): Account[] => {
      if (one.disabled) return [];
      const username = deviceName(one);
      const access = deviceAccess({ prefix, tenant: one.tenant, device: one.device }, one.groups);
      return [{ username, kind: 'device', clientId: username, password: one.password, access }];
    }),
  ];
}
