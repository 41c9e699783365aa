import { existsSync } from 'node:fs';
import { rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Log } from '../../ports/log.ts';
import type { OrderFiles } from '../../ports/update.ts';
import { parseJson } from '../../protocol/common/json.ts';
import { type UpdateOrder, updateOrderSchema } from '../../protocol/common/update.ts';
import { readBounded } from '../bounded-file.ts';
import { systemReason } from '../system-error.ts';

/** In the agent's state folder. */
export const ORDER_FILE = 'update-order.json';
/** In the agent's folder in memory: the id of the order whose restart the agent allows. */
export const MOMENT_FILE = 'update-moment';
/** In the agent's folder in memory: the pid of a process that ends because an operator ordered a restart. */
export const RESTART_FILE = 'restart-asked';
/** In the updater's folder in memory. */
export const STATUS_FILE = 'status.json';
/** In the updater's folder in memory: while it exists, the launcher starts only the installed version. */
const AVOID_FILE = 'installed-only';

const MOST_ORDER = 8192;
const MOST_MOMENT = 256;

export interface OrderFolders {
  /** The agent's state folder. */
  readonly state: string;
  /** The agent's folder in memory. */
  readonly runtime: string;
  /** The updater's folder in memory. */
  readonly own: string;
}

/** Files that the agent and the updater exchange. The agent owns two of them: their content is not trusted. */
export function createOrderFiles({ state, runtime, own }: OrderFolders, log: Log): OrderFiles {
  const orderFile = join(state, ORDER_FILE);
  const momentFile = join(runtime, MOMENT_FILE);
  const read = async (): Promise<UpdateOrder | null> => {
    const text = readBounded(orderFile, MOST_ORDER)?.toString();
    const order = updateOrderSchema.safeParse(text === undefined ? null : parseJson(text));
    if (order.success) return order.data;
    // A link, a pipe, or text that is not an order.
    if (existsSync(orderFile)) {
      log.error({}, 'an update order was unreadable and has been removed');
      await remove(orderFile, log);
    }
    return null;
  };
  return {
    order: read,
    async took(id) {
      if ((await read())?.id === id) await remove(orderFile, log);
    },
    forgetMoment: () => remove(momentFile, log),
    isGoodMoment: async (id) => readBounded(momentFile, MOST_MOMENT)?.toString() === id,
    async publish(status) {
      const file = join(own, STATUS_FILE);
      await writeFile(`${file}.draft`, JSON.stringify(status), { mode: 0o644 });
      await rename(`${file}.draft`, file);
    },
    avoidLink: () => writeFile(join(own, AVOID_FILE), ''),
  };
}

async function remove(path: string, log: Log): Promise<void> {
  try {
    await rm(path, { force: true, recursive: true });
  } catch (error) {
    log.error({}, `${path} cannot be removed: ${systemReason(error)}`);
  }
}
