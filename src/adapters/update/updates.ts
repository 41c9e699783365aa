import { open, rename, rm, writeFile } from 'node:fs/promises';
import { dirname, isAbsolute, join } from 'node:path';
import type { Updates } from '../../ports/updater.ts';
import { parseJson } from '../../protocol/common/json.ts';
import { type UpdateOrder, type UpdateStatus, updateStatusSchema } from '../../protocol/common/update.ts';
import { readBounded } from '../bounded-file.ts';
import { syncDirectory } from '../state-file.ts';
import { systemReason } from '../system-error.ts';
import { MOMENT_FILE, ORDER_FILE, STATUS_FILE } from './order-files.ts';

/** The updater's folder in memory. */
export const UPDATER_MEMORY = '/run/dragoman-update';
/** Larger than any report (bytes). */
const MOST_STATUS = 8192;

/** @returns null: the program does not run under systemd, so that there is no place for orders */
export function createUpdates(
  env: Readonly<Record<string, string | undefined>>,
  memory: string = UPDATER_MEMORY,
): Updates | null {
  const [state = ''] = (env['STATE_DIRECTORY'] ?? '').split(':');
  const [runtime = ''] = (env['RUNTIME_DIRECTORY'] ?? '').split(':');
  if (!isAbsolute(state) || !isAbsolute(runtime)) return null;
  const moment = join(runtime, MOMENT_FILE);
  return {
    look: () => readStatus(memory),
    order: (order) => leaveOrder(state, order),
    async allow(order) {
      // A failure costs only time: after a day the updater continues without permission.
      const done = order === null ? rm(moment, { force: true }) : writeFile(moment, order);
      await done.catch(() => {});
    },
  };
}

/** What the updater reports; null: it is not running. @param memory its folder */
export async function readStatus(memory: string): Promise<UpdateStatus | null> {
  try {
    const text = readBounded(join(memory, STATUS_FILE), MOST_STATUS)?.toString();
    return text === undefined ? null : updateStatusSchema.parse(parseJson(text));
  } catch {
    return null;
  }
}

/** Resolves with null, or with the reason why the order cannot be left. @param state the agent's state folder */
export async function leaveOrder(state: string, order: UpdateOrder): Promise<string | null> {
  try {
    await replaceDurably(join(state, ORDER_FILE), JSON.stringify(order));
    return null;
  } catch (error) {
    return `the order cannot be written to ${state}: ${systemReason(error)}`;
  }
}

async function replaceDurably(path: string, text: string): Promise<void> {
  const draft = `${path}.tmp`;
  // Never writes to an existing file: root may write here in a folder of another user, who could put a link there.
  await rm(draft, { force: true });
  const file = await open(draft, 'wx', 0o600);
  try {
    await file.writeFile(text);
    await file.sync();
  } finally {
    await file.close();
  }
  await rename(draft, path);
  await syncDirectory(dirname(path));
}
