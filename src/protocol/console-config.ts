/** The desired configuration in the owner's console. */
import * as z from 'zod';
import { deviceNameSchema } from './console-fleet.ts';
import { nameSchema } from './mqtt/topics.ts';

/** The body of a `config/desired`: `version`, and the keys that may be set remotely. */
export type DesiredDocument = Readonly<Record<string, unknown>>;

export interface GroupConfig {
  readonly desired: DesiredDocument | null;
  /** Number of devices in the group, and of those that report the present version. */
  readonly devices: number;
  readonly applied: number;
}

export const configChangeSchema = z.strictObject({
  target: z.union([
    z.strictObject({ device: deviceNameSchema }),
    z.strictObject({ tenant: nameSchema, group: nameSchema }),
  ]),
  /** Version of the document that was changed; 0: there was none. */
  basedOn: z.int().min(0),
  /** The new document without `version`; null: deletes the document. */
  document: z.record(z.string(), z.unknown()).nullable(),
});
export type ConfigChange = z.infer<typeof configChangeSchema>;

/** The document was published. Each device reports later (`config/reported`). */
export interface ConfigAnswer {
  readonly version: number;
  /** Sentences for people, such as that the document is not signed. */
  readonly warnings: readonly string[];
}
