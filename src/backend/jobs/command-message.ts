/** Messages to devices: signed if the backend has the owner's key. */
import type { Signer } from '../../adapters/signing/signer.ts';
import { asWall, type WallMs } from '../../protocol/common/time.ts';
import { timestamp } from '../../protocol/mqtt/envelope.ts';
import type { JobRecord } from './job-state.ts';

/** @param about topic base of the device */
export async function commandText(
  { id, command, args, notAfter }: Pick<JobRecord, 'id' | 'command' | 'args' | 'notAfter'>,
  about: string,
  signer: Signer | null,
  wall: WallMs | null,
): Promise<string> {
  const body = { ts: timestamp(wall), id, args, not_after: timestamp(asWall(notAfter)) };
  if (signer === null) return JSON.stringify(body);
  const jws = await signer.sign('dragoman+command', about, { ...body, cmd: command }, wall);
  return JSON.stringify({ id, jws });
}

/** @param about topic base of the device or the group */
export async function desiredText(
  document: Readonly<Record<string, unknown>>,
  about: string,
  signer: Signer | null,
  wall: WallMs | null,
): Promise<string> {
  const body = { ts: timestamp(wall), ...document };
  if (signer === null) return JSON.stringify(body);
  return JSON.stringify({ jws: await signer.sign('dragoman+config', about, body, wall) });
}
