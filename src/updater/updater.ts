import { UpdateTrouble } from '../ports/update.ts';
import { openMemory } from './memory.ts';
import { createUpdate, type UpdaterDeps } from './update.ts';
import { TIMES } from './updater-times.ts';
import { createVersionFolders } from './version-folders.ts';

/**
 * Resumes the update of the last run, carries out orders, and resolves when nothing is left to do. The power may be cut
 * at every await.
 */
export async function runUpdater({ times = TIMES, own, ...deps }: UpdaterDeps): Promise<void> {
  const { files, orders, log } = deps;
  const folders = createVersionFolders(files, deps.releases, own);
  const memory = await openMemory(files, orders, folders, log);
  const update = createUpdate({ ...deps, own, times, folders, memory });
  const tidy = async (): Promise<void> => {
    try {
      await folders.tidy([memory.record.previous, memory.record.from, memory.record.to]);
    } catch (error) {
      if (!(error instanceof UpdateTrouble)) throw error;
      log.warn({}, `cannot remove the leftovers of an earlier update: ${error.message}`);
    }
  };
  await tidy();
  await update.carryOn();
  for (let last = ''; ; ) {
    await tidy();
    const order = await orders.order();
    // An order that cannot be removed must not be done again and again.
    if (order === null || order.id === last) return;
    last = order.id;
    await update.obey(order);
  }
}
