import { existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { makeOwnFolder } from './setup/temporary.ts';

/** Environment variable with the folder of shared files of a run (see `test/setup/run-folder.ts`). */
export const RUN_FOLDER = 'TESTS_RUN_FOLDER';

/**
 * Makes a shared folder once in a run, because it takes seconds. The first test file makes it, the others wait. It is read-only for
 * its users.
 * @param make fills an empty folder
 * @returns that folder
 */
export async function onceARun(
  name: string,
  make: (folder: string) => Promise<void> | void,
  root = process.env[RUN_FOLDER] ?? ownFolder(),
): Promise<string> {
  const folder = join(root, name);
  const [made, failed] = [`${folder}.made`, `${folder}.failed`];
  if (isFirst(folder)) {
    try {
      await make(folder);
      writeFileSync(made, '');
    } catch (error) {
      writeFileSync(failed, '');
      throw error;
    }
  }
  while (!existsSync(made)) {
    if (existsSync(failed)) throw new Error(`${name} could not be made: another test file shows the reason`);
    await sleep(50);
  }
  return folder;
}

/** Whether this process is the first: only one process can create the folder. */
function isFirst(folder: string): boolean {
  try {
    mkdirSync(folder);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
    throw error;
  }
}

let own: string | null = null;

/** A folder for this process only, used when there is no shared one. */
function ownFolder(): string {
  if (own !== null) return own;
  const folder = makeOwnFolder(tmpdir());
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }));
  own = folder;
  return folder;
}
