import * as z from 'zod';
import { parseJson } from '../../protocol/common/json.ts';
import { readConfigText } from '../config/read-file.ts';

/** A device with a login at the broker. */
export interface RegisteredDevice {
  readonly device: string;
  readonly groups: readonly string[];
}

/** The part of `setup.json` of "dragoman-backend broker init" that is read here. */
const setupSchema = z.looseObject({
  devices: z.array(
    z.looseObject({
      tenant: z.string(),
      device: z.string(),
      groups: z.array(z.string()),
      disabled: z.boolean().catch(false),
    }),
  ),
});

/**
 * The devices of a tenant that may log in; null: the file is not a set-up.
 * @throws UnreadableFile
 */
export function readRegistered(file: string, tenant: string): readonly RegisteredDevice[] | null {
  const parsed = setupSchema.safeParse(parseJson(readConfigText(file)));
  if (!parsed.success) return null;
  return parsed.data.devices.filter((one) => one.tenant === tenant && !one.disabled);
}
