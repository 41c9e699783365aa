/** One at a time: of two that write one file, either would overwrite the other's. */
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { readBoundedFile, UnreadableFile } from '../config/read-file.ts';
import { systemCode } from '../system-error.ts';

/** Gone at the next boot, whatever has happened. */
const PROVISION_LOCK = '/run/dragoman-provision.lock';
/** Beside the result file, where both may write who write the status. */
const STATUS_LOCK = 'status.lock';
/** A card takes a second for a file at its worst. The agent's user could hold the lock forever: then it is written all the same. */
const WAIT_FOR_STATUS_MS = 3000;
const LOOK_EVERY_MS = 20;
const LONGEST_PID = 20;

/** @returns what ends it; null where another one runs. @throws where it cannot be written */
export function lock(root: string): (() => void) | null {
  const file = join(root, PROVISION_LOCK);
  mkdirSync(dirname(file), { recursive: true });
  return take(file);
}

/** @param folder of the result file */
export function whileStatusIsOurs<T>(folder: string, write: () => T): T {
  const file = join(folder, STATUS_LOCK);
  let unlock: (() => void) | null = null;
  try {
    const pause = new Int32Array(new SharedArrayBuffer(4));
    for (let waited = 0; waited < WAIT_FOR_STATUS_MS; waited += LOOK_EVERY_MS) {
      unlock = take(file);
      if (unlock !== null) break;
      Atomics.wait(pause, 0, 0, LOOK_EVERY_MS);
    }
  } catch {
    // There is no such folder, or it can only be read: what is written is whole all the same.
  }
  try {
    return write();
  } finally {
    unlock?.();
  }
}

function take(file: string): (() => void) | null {
  for (let tries = 0; tries < 2; tries += 1) {
    try {
      writeFileSync(file, String(process.pid), { flag: 'wx', mode: 0o644 });
      return () => rmSync(file, { force: true });
    } catch (error) {
      if (systemCode(error) !== 'EEXIST') throw error;
    }
    if (isHeld(file)) return null;
    rmSync(file, { force: true });
  }
  return null;
}

/** Not by one that was killed. */
function isHeld(file: string): boolean {
  try {
    const pid = Number(readBoundedFile(file, LONGEST_PID).bytes.toString('latin1'));
    // Empty: it is just being written.
    if (pid === 0) return true;
    process.kill(pid, 0);
    return true;
  } catch (error) {
    if (error instanceof UnreadableFile) return error.code !== 'ENOENT';
    return systemCode(error) === 'EPERM';
  }
}
