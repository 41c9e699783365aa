import { readFileSync, statSync } from 'node:fs';
import { mkdir, open, rename, rm } from 'node:fs/promises';
import { dirname, isAbsolute, join } from 'node:path';
import type { StateFile } from '../ports/state-file.ts';
import { systemCode } from './system-error.ts';

/** Far more than any of ours: a larger file is not ours. */
const MOST_BYTES = 4 * 1_048_576;

/**
 * Where what outlives the program is kept: systemd's StateDirectory, else the user's place for it (XDG); null where
 * there is neither.
 */
export function stateDirectory(env: Readonly<Record<string, string | undefined>>): string | null {
  // systemd lists several, separated by colons.
  const [systemd = ''] = (env['STATE_DIRECTORY'] ?? '').split(':');
  if (isAbsolute(systemd)) return systemd;
  const { XDG_STATE_HOME: xdg = '', HOME: home = '' } = env;
  if (isAbsolute(xdg)) return join(xdg, 'dragoman');
  return isAbsolute(home) ? join(home, '.local', 'state', 'dragoman') : null;
}

/** The file at `path`; its directory is made when something is written. */
export function createStateFile(path: string): StateFile {
  return {
    read() {
      try {
        const found = statSync(path);
        return found.isFile() && found.size <= MOST_BYTES ? readFileSync(path, 'utf8') : null;
      } catch {
        return null;
      }
    },
    async write(text) {
      // Always the same name, so that power cuts leave no more than one.
      const draft = `${path}.tmp`;
      try {
        await mkdir(dirname(path), { recursive: true, mode: 0o700 });
        await writeDurably(draft, text);
        await rename(draft, path);
        await syncDirectory(dirname(path));
        return { ok: true };
      } catch (error) {
        await rm(draft, { force: true }).catch(() => {});
        const code = systemCode(error) ?? 'unknown reason';
        return { ok: false, message: `the file ${path} cannot be written (${code})` };
      }
    },
  };
}

async function writeDurably(path: string, text: string): Promise<void> {
  const file = await open(path, 'w', 0o600);
  try {
    await file.writeFile(text);
    await file.sync();
  } finally {
    await file.close();
  }
}

/** Only then does the new name outlive a power cut. */
async function syncDirectory(path: string): Promise<void> {
  const directory = await open(path, 'r');
  try {
    await directory.sync();
  } finally {
    await directory.close();
  }
}
