import { closeSync, fsyncSync, openSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { readBounded } from '../adapters/bounded-file.ts';
import { systemRefusal } from '../adapters/system-error.ts';
import { syncFolder } from './apply.ts';
import { STATUS_FILE } from './core/outcome.ts';
import { START_HEAD } from './core/start-text.ts';
import { whileStatusIsOurs } from './lock.ts';

const MOST_BYTES = 256 * 1024;
/** Draft of the status file, always under the same 8.3 name, so that power cuts leave at most one. */
const DRAFT = 'DRAGOSTA.NEW';
const TIME = /^Time: .*$/gm;

/**
 * Writes the result of the settings, and removes a report on an earlier start.
 * @param boot where the boot partition is mounted
 * @param run the runtime folder of provisioning
 * @returns why it could not be written, in words; null: it was written
 */
export function writeSettingsText(boot: string, text: string, run: string): string | null {
  return whileStatusIsOurs(run, () => systemRefusal(() => writeWhole(boot, text)));
}

/** Removes leftovers of an earlier write that a power cut interrupted. */
export function clearDraft(boot: string, run: string): void {
  whileStatusIsOurs(run, () => systemRefusal(() => rmSync(join(boot, DRAFT), { force: true })));
}

/**
 * Replaces the report on the last start, which follows the result of `dragoman provision`. Writes nothing if only the time has
 * changed: a power cut during the write could damage the card.
 * @param boot where the boot partition is mounted
 * @param run the runtime folder of provisioning
 * @returns why it could not be written, in words; null: it was written
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
 * Empty without a readable file. Links are not followed: the agent's user could change the file that names the folder, and
 * files that only root may read must not be copied from elsewhere.
 */
function readText(path: string): string {
  return readBounded(path, MOST_BYTES)?.toString('utf8') ?? '';
}

/** Writes atomically, even on a power cut. */
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
