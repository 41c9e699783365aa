/** One run at a time: two that take the secrets out of one file would overwrite each other's. */
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

/** Gone at the next boot, whatever has happened. */
const LOCK_FILE = '/run/dragoman-provision.lock';

/** @returns what ends it; null where another one runs. @throws where it cannot be written */
export function lock(root: string): (() => void) | null {
  const file = join(root, LOCK_FILE);
  mkdirSync(dirname(file), { recursive: true });
  for (let tries = 0; tries < 2; tries += 1) {
    try {
      writeFileSync(file, String(process.pid), { flag: 'wx', mode: 0o644 });
      return () => rmSync(file, { force: true });
    } catch (error) {
      if (!(error instanceof Error && 'code' in error && error.code === 'EEXIST')) throw error;
    }
    if (isHeld(file)) return null;
    rmSync(file, { force: true });
  }
  return null;
}

/** Not by one that was killed. */
function isHeld(file: string): boolean {
  try {
    const pid = Number(readFileSync(file, 'utf8'));
    // Empty: it is just being written.
    if (pid === 0) return true;
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return error instanceof Error && 'code' in error && error.code === 'EPERM';
  }
}
