/**
 * Removes the secrets from dragoman.json once they are in place. The text without them is written beside the file and synced, the
 * file is overwritten and synced, and then the new file takes its name. After a power cut, one of the two files is complete, and
 * the next boot finishes the work.
 */
import {
  closeSync,
  constants,
  fstatSync,
  fsyncSync,
  ftruncateSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeSync,
} from 'node:fs';
import { join } from 'node:path';
import { systemRefusal } from '../adapters/system-error.ts';
import { syncFolder } from './apply.ts';
import { PROVISIONING_FILE } from './core/outcome.ts';
import { withoutSecrets } from './core/secrets.ts';
import { readDocument } from './document.ts';

/** An 8.3 name, so that FAT stores no second, long name. */
const CLEANED_FILE = 'DRAGOMAN.NEW';
/** Zero bytes in a row: no text has this many, not even one in UTF-16. */
const ZEROS = 16;

/** @returns null, or the reason in words */
export function takeSecretsOut(folder: string, value: unknown): string | null {
  const text = JSON.stringify(withoutSecrets(value), null, 2).replaceAll('\n', '\r\n');
  return systemRefusal(() => {
    writeSynced(join(folder, CLEANED_FILE), `${text}\r\n`);
    syncFolder(folder);
    exchange(folder);
  });
}

/** After a power cut between overwriting and renaming: restores the file before it is read. */
export function resumeCleaning(folder: string): void {
  const cleaned = join(folder, CLEANED_FILE);
  if (statSync(cleaned, { throwIfNoEntry: false }) === undefined) return;
  systemRefusal(() => {
    const isOverwritten = readFileSync(join(folder, PROVISIONING_FILE)).includes(Buffer.alloc(ZEROS));
    const isWhole = readDocument(readFileSync(cleaned, 'utf8')).ok;
    if (isOverwritten && isWhole) exchange(folder);
    else rmSync(cleaned);
  });
}

function exchange(folder: string): void {
  const file = join(folder, PROVISIONING_FILE);
  overwrite(file);
  renameSync(join(folder, CLEANED_FILE), file);
  syncFolder(folder);
}

/** Overwrites in place, so that the same blocks are written; a flash card may keep the old ones all the same. */
function overwrite(file: string): void {
  const fd = openSync(file, constants.O_RDWR | constants.O_NOFOLLOW);
  try {
    const { size } = fstatSync(fd);
    const zeros = Buffer.alloc(Math.max(1, size));
    for (let at = 0; at < zeros.length; ) at += writeSync(fd, zeros, at, zeros.length - at, at);
    fsyncSync(fd);
  } finally {
    closeSync(fd);
  }
}

function writeSynced(file: string, text: string): void {
  const fd = openSync(file, constants.O_WRONLY | constants.O_CREAT | constants.O_NOFOLLOW, 0o600);
  try {
    ftruncateSync(fd);
    const bytes = Buffer.from(text);
    for (let at = 0; at < bytes.length; ) at += writeSync(fd, bytes, at);
    fsyncSync(fd);
  } finally {
    closeSync(fd);
  }
}
