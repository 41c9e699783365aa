import { spawnSync } from 'node:child_process';
import { cpSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { onceARun } from './once-a-run.ts';

const ROOT = fileURLToPath(new URL('../', import.meta.url));

/** The folder of the bundles that `npm run build` makes; read-only. */
export const makeBundles = (): Promise<string> =>
  onceARun('bundles', (into) => {
    const words = ['scripts/build.mjs', '--out', into];
    const built = spawnSync(process.execPath, words, { cwd: ROOT, encoding: 'utf8' });
    if (built.status !== 0) throw new Error(built.stderr);
  });

/** Copies the bundles into a folder. */
export async function placeBundles(folder: string): Promise<void> {
  cpSync(await makeBundles(), folder, { recursive: true });
}
