import {
  closeSync,
  constants,
  fstatSync,
  fsyncSync,
  openSync,
  readSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { STATUS_FILE } from '../../core/provisioning/outcome.ts';
import { START_HEAD } from '../../core/provisioning/start-text.ts';
import { systemRefusal } from '../system-error.ts';
import { syncFolder } from './apply.ts';
import { whileStatusIsOurs } from './lock.ts';

const MOST_BYTES = 256 * 1024;
/** Whatever a power cut leaves is one file, and one name on FAT. */
const DRAFT = 'DRAGOSTA.NEW';
const TIME = /^Time: .*$/gm;

/**
 * Writes what became of the settings; a report on an earlier start goes with what was there.
 * @param boot where the boot partition is mounted
 * @param run the folder of what provisioning leaves
 * @returns why it could not be written, as the system calls it; null: it stands there
 */
export function writeSettingsText(boot: string, text: string, run: string): string | null {
  return whileStatusIsOurs(run, () => systemRefusal(() => writeWhole(boot, text)));
}

/** What a power cut has left of an earlier writing, where nothing is to be written now. */
export function clearDraft(boot: string, run: string): void {
  whileStatusIsOurs(run, () => systemRefusal(() => rmSync(join(boot, DRAFT), { force: true })));
}

/**
 * Puts these lines in the place of the last report on a start, behind what `dragoman provision` has written. The card is not
 * written for another time alone: a power cut then could harm it.
 * @param boot where the boot partition is mounted
 * @param run the folder of what provisioning has left
 * @returns why it could not be written, as the system calls it; null: it stands there
 */
export function writeStartLines(boot: string, lines: readonly string[], run: string): string | null {
  return whileStatusIsOurs(run, () => systemRefusal(() => putLines(boot, lines)));
}

function putLines(boot: string, lines: readonly string[]): void {
  const before = readText(join(boot, STATUS_FILE));
  const [settings = ''] = before.split(new RegExp(`(?:\r?\n)*^${START_HEAD}`, 'm'));
  const own = `${lines.join('\r\n')}\r\n`;
  const text = settings.trim() === '' ? own : `${settings.trimEnd()}\r\n\r\n${own}`;
  if (before.replaceAll(TIME, '') === text.replaceAll(TIME, '')) return;
  writeWhole(boot, text);
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
function writeWhole(boot: string, text: string): void {
  const draft = join(boot, DRAFT);
  try {
    rmSync(draft, { force: true });
    const file = openSync(draft, 'wx', 0o644);
    try {
      writeFileSync(file, text);
      fsyncSync(file);
    } finally {
      closeSync(file);
    }
    renameSync(draft, join(boot, STATUS_FILE));
    syncFolder(boot);
  } catch (error) {
    systemRefusal(() => rmSync(draft, { force: true }));
    throw error;
  }
}
