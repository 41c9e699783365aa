import {
  closeSync,
  constants,
  fstatSync,
  fsyncSync,
  openSync,
  readSync,
  renameSync,
  rmSync,
  writeSync,
} from 'node:fs';
import { join } from 'node:path';
import { STATUS_FILE } from '../../core/provisioning/outcome.ts';
import { START_HEAD } from '../../core/provisioning/start-text.ts';
import { whileStatusIsOurs } from './lock.ts';

const MOST_BYTES = 256 * 1024;
/** Whatever a power cut leaves is one file, and one name on FAT; another one than provisioning has, which may write at the same time. */
const DRAFT = 'DRAGOREP.NEW';
const TIME = /^Time: .*$/gm;

/**
 * Puts these lines in the place of the last report on a start, behind what `dragoman provision` has written. The card is not
 * written for another time alone: a power cut then could harm it.
 * @param boot where the boot partition is mounted
 * @param run the folder of what provisioning has left
 * @returns why it could not be written, as the system calls it; null: it stands there
 */
export function writeStartLines(boot: string, lines: readonly string[], run: string): string | null {
  const path = join(boot, STATUS_FILE);
  return whileStatusIsOurs(run, () => putLines(boot, path, lines));
}

function putLines(boot: string, path: string, lines: readonly string[]): string | null {
  try {
    const before = readText(path);
    const [settings = ''] = before.split(new RegExp(`(?:\r?\n)*^${START_HEAD}`, 'm'));
    const own = `${lines.join('\r\n')}\r\n`;
    const text = settings.trim() === '' ? own : `${settings.trimEnd()}\r\n\r\n${own}`;
    if (before.replaceAll(TIME, '') === text.replaceAll(TIME, '')) return null;
    writeWhole(boot, path, text);
    return null;
  } catch (error) {
    return error instanceof Error && 'code' in error ? String(error.code) : 'unknown reason';
  }
}

/**
 * Empty where there is none that could be ours. A link is none: the folder is named by a file that the agent's user could change, and
 * what root alone may read must not be copied from elsewhere.
 */
function readText(path: string): string {
  let file: number;
  try {
    file = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOFOLLOW);
  } catch {
    return '';
  }
  try {
    const found = fstatSync(file);
    if (!found.isFile() || found.size > MOST_BYTES) return '';
    const bytes = Buffer.alloc(found.size);
    return bytes.toString('utf8', 0, readSync(file, bytes, 0, bytes.length, 0));
  } finally {
    closeSync(file);
  }
}

/** All of it or what was there before, also after a power cut. */
function writeWhole(boot: string, path: string, text: string): void {
  const draft = join(boot, DRAFT);
  try {
    rmSync(draft, { force: true });
    const file = openSync(draft, 'wx', 0o644);
    try {
      writeSync(file, text);
      fsyncSync(file);
    } finally {
      closeSync(file);
    }
    renameSync(draft, path);
  } catch (error) {
    rmSync(draft, { force: true });
    throw error;
  }
  const folder = openSync(boot, 'r');
  try {
    fsyncSync(folder);
  } finally {
    closeSync(folder);
  }
}
