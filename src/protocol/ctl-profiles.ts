import * as z from 'zod';
import { mqttVersionSchema } from './common/setting-values.ts';
import { readAddress } from './host-name.ts';
import { nameSchema, prefixSchema } from './mqtt/topics.ts';

const file = z.string().min(1, 'must name a file');

/** Connection of an operator to a broker. File names may be relative to the folder of the profiles. */
export const ctlProfileSchema = z.strictObject({
  url: z
    .string()
    .refine((text) => /^(mqtts?|wss?):\/\/[^/]/.test(text) && readAddress(text) !== null, {
      error: 'must be an address such as "mqtts://broker.example:8883"',
    })
    .refine(
      (text) => !URL.canParse(text) || (new URL(text).username === '' && new URL(text).password === ''),
      {
        error: 'must not contain a user name or password: give "username" and "passwordFile"',
      },
    ),
  prefix: prefixSchema.default('dragoman/v1'),
  tenant: nameSchema,
  username: z.string().min(1).nullable().default(null),
  passwordFile: file.nullable().default(null),
  caFile: file.nullable().default(null),
  certFile: file.nullable().default(null),
  keyFile: file.nullable().default(null),
  version: mqttVersionSchema.default('auto'),
  /** The owner's private key. It signs messages, because some devices accept only signed messages. */
  signingKeyFile: file.nullable().default(null),
  /** `setup.json` of `broker init`: with it, devices that never connected are shown, too. */
  setupFile: file.nullable().default(null),
});
export type CtlProfile = z.infer<typeof ctlProfileSchema>;

/** `~/.config/dragoman/ctl.json`. */
export const ctlProfilesSchema = z
  .strictObject({
    profiles: z.record(
      z.string().regex(/^[\w.-]{1,64}$/, 'must be 1 to 64 letters, digits, "_", "-" or "."'),
      ctlProfileSchema,
    ),
    default: z.string().optional(),
  })
  .refine(({ profiles }) => Object.keys(profiles).length > 0, {
    error: 'must contain a profile',
    path: ['profiles'],
  });
