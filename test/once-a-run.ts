import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

/** Where a run of all tests keeps what several files need (`test/setup/run-folder.ts`). */
export const RUN_FOLDER = 'TESTS_RUN_FOLDER';

/**
 * What takes seconds to make is made once in a run: the file that comes first makes it, the others wait for it. Nobody writes into it.
 * @param make gets an empty folder
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
    if (existsSync(failed)) throw new Error(`${name} could not be made: another test file tells why`);
    await sleep(50);
  }
  return folder;
}

/** Two cannot make one folder. */
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

/** Where nobody shares anything: this process's own, as long as it lives. */
function ownFolder(): string {
  if (own !== null) return own;
  const folder = mkdtempSync(join(tmpdir(), 'dragoman-tests-'));
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }));
  own = folder;
  return folder;
}
