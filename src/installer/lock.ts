/** Locks against two processes that overwrite each other's files. */
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { readBoundedFile, UnreadableFile } from '../adapters/config/read-file.ts';
import { systemCode } from '../adapters/system-error.ts';

/** In /run, so that a reboot always removes it. */
const PROVISION_LOCK = '/run/dragoman-provision.lock';
/** Beside the result file, where all writers of the status may write. */
const STATUS_LOCK = 'status.lock';
/** Longest wait for the status lock (milliseconds): a slow card takes a second per file. After this wait the status is written anyway. */
const WAIT_FOR_STATUS_MS = 3000;
const LOOK_EVERY_MS = 20;
const LONGEST_PID = 20;

/** @returns a function that releases the lock; null: another process holds it. @throws when the lock cannot be written */
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
    // The folder is absent or read-only: the write is atomic anyway.
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

/** Whether a live process holds the lock. */
function isHeld(file: string): boolean {
  try {
    const pid = Number(readBoundedFile(file, LONGEST_PID).bytes.toString('latin1'));
    // Empty: the lock file is being written.
    if (pid === 0) return true;
    process.kill(pid, 0);
    return true;
  } catch (error) {
    if (error instanceof UnreadableFile) return error.code !== 'ENOENT';
    return systemCode(error) === 'EPERM';
  }
}
