import { chmodSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';

const PREFIX = 'dragoman-tests-';
const NAME = new RegExp(`^${PREFIX}(\\d+)-`);

/** A place for temporary folders in memory. */
export const MEMORY = '/dev/shm';

/** Makes a folder that is named after this process, so that a later run can tell whether it is still in use. */
export function makeOwnFolder(place: string): string {
  const folder = mkdtempSync(join(place, `${PREFIX}${process.pid}-`));
  // Open to programs of other users, like the machine's own.
  chmodSync(folder, 0o1777);
  return folder;
}

/** Whether a folder of this name was made by this process. */
export const isOwnFolder = (name: string): boolean => name.startsWith(`${PREFIX}${process.pid}-`);

/** Removes what killed runs have left: the folders of processes that are gone. */
export function removeAbandoned(place: string): void {
  for (const name of readdirSync(place)) {
    const pid = NAME.exec(name)?.[1];
    if (pid !== undefined && !isRunning(Number(pid)))
      rmSync(join(place, name), { recursive: true, force: true });
  }
}

/** A killed process whose parent does not collect it, as in many containers, still has its number. */
function isRunning(pid: number): boolean {
  try {
    return !/\) [ZX] /.test(readFileSync(`/proc/${pid}/stat`, 'latin1'));
  } catch {
    return false;
  }
}
