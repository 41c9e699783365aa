/**
 * Puts the files of a plan into place. First all are written beside their places and synced, then renamed; on a failure the renamed
 * ones are restored. A power cut in between is repaired at the next boot: dragoman.json keeps its secrets until all is in place.
 */
import {
  chmodSync,
  chownSync,
  closeSync,
  constants,
  fchmodSync,
  fchownSync,
  fsyncSync,
  linkSync,
  lstatSync,
  mkdirSync,
  openSync,
  readlinkSync,
  realpathSync,
  renameSync,
  rmdirSync,
  rmSync,
  statSync,
  symlinkSync,
  writeSync,
} from 'node:fs';
import { basename, dirname, join, relative, sep } from 'node:path';
import { systemCode, systemReason } from '../adapters/system-error.ts';
import type { ProvisioningOutcome } from './core/outcome.ts';
import type { FileOwner, FileWrite, Write } from './core/places.ts';
import { presentText } from './facts.ts';

/** A user and group by their numbers. */
export interface Owner {
  readonly uid: number;
  readonly gid: number;
}

export type Owners = Readonly<Record<FileOwner, Owner>> | null;

export type Applied =
  | { readonly ok: true; readonly changed: readonly Write[] }
  | { readonly ok: false; readonly outcome: ProvisioningOutcome; readonly message: string };

/** Temporary names: no service reads a name with a leading dot or this ending. */
const staged = (path: string): string => join(dirname(path), `.${basename(path)}.dragoman-new`);
const kept = (path: string): string => join(dirname(path), `.${basename(path)}.dragoman-old`);

const NEW_FILE = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW;
const FULL = new Set(['ENOSPC', 'EDQUOT']);

/**
 * The writes of a plan that are not done yet.
 * @param owners null: this process cannot change owners, so the files stay its own
 */
export function missingWrites(writes: readonly Write[], root: string, owners: Owners): Write[] {
  return writes.filter((write) => !isInPlace(write, root, owners));
}

export function applyWrites(writes: readonly Write[], root: string, owners: Owners): Applied {
  let changed: readonly Write[] = [];
  const renamed: string[] = [];
  const made: string[] = [];
  try {
    for (const { path } of writes) clear(join(root, path));
    changed = missingWrites(writes, root, owners);
    for (const write of changed) stage(write, root, owners, made);
    for (const { path } of changed) {
      const place = join(root, path);
      keepOld(place);
      renamed.push(place);
      renameSync(staged(place), place);
    }
    syncFolders(changed.map(({ path }) => dirname(join(root, path))));
    for (const { path } of changed) rmSync(kept(join(root, path)), { force: true });
    return { ok: true, changed };
  } catch (error) {
    for (const place of renamed.reverse()) putBack(place);
    for (const { path } of changed) trying(() => clear(join(root, path)));
    for (const folder of made.reverse()) trying(() => rmdirSync(folder));
    const code = systemCode(error);
    if (code === null && !(error instanceof UnsafePlace)) throw error;
    const message = error instanceof UnsafePlace ? error.message : systemReason(error);
    return { ok: false, outcome: FULL.has(code ?? '') ? 'disk_full' : 'write_failed', message };
  }
}

class UnsafePlace extends Error {}

/** Removes what an interrupted earlier run has left: it may hold secrets. */
function clear(place: string): void {
  rmSync(staged(place), { force: true });
  rmSync(kept(place), { force: true });
}

function isInPlace(write: Write, root: string, owners: Owners): boolean {
  const place = join(root, write.path);
  const stats = lstatSync(place, { throwIfNoEntry: false });
  if (write.kind === 'link') return stats?.isSymbolicLink() === true && readlinkSync(place) === write.target;
  if (stats?.isFile() !== true || (stats.mode & 0o7777) !== write.mode) return false;
  const owner = owners?.[write.owner];
  if (owner !== undefined && (stats.uid !== owner.uid || stats.gid !== owner.gid)) return false;
  return presentText(root, write.path) === write.content;
}

function stage(write: Write, root: string, owners: Owners, made: string[]): void {
  const place = join(root, write.path);
  makeFolder(dirname(place), root, write, owners, made);
  if (lstatSync(place, { throwIfNoEntry: false })?.isDirectory())
    throw new UnsafePlace(`${write.path} is a folder`);
  if (write.kind === 'link') symlinkSync(write.target, staged(place));
  else stageFile(write, staged(place), owners);
}

function stageFile({ content, mode, owner }: FileWrite, path: string, owners: Owners): void {
  const fd = openSync(path, NEW_FILE, 0o600);
  try {
    const bytes = Buffer.from(content);
    for (let at = 0; at < bytes.length; ) at += writeSync(fd, bytes, at);
    if (owners !== null) fchownSync(fd, owners[owner].uid, owners[owner].gid);
    fchmodSync(fd, mode);
    fsyncSync(fd);
  } finally {
    closeSync(fd);
  }
}

/** Only the agent may read the folder of secrets, as in the package; other folders are readable by everybody. */
function makeFolder(folder: string, root: string, write: Write, owners: Owners, made: string[]): void {
  const isNew = makeMissing(folder, made);
  const isOut = relative(realpathSync(root), realpathSync(folder)).split(sep)[0] === '..';
  if (isOut) throw new UnsafePlace(`${dirname(write.path)} leads out of the system's root`);
  if (!isNew || write.kind === 'link' || write.owner === 'root') return;
  if (owners !== null) chownSync(folder, owners.root.uid, owners.dragoman.gid);
  chmodSync(folder, 0o750);
}

/**
 * Makes folders one by one: mkdir with "recursive" reports a read-only disk as ENOENT, and does not return all new folders.
 * @param made gets each new folder, the outer ones first
 * @returns whether the folder was missing
 */
function makeMissing(folder: string, made: string[]): boolean {
  if (statSync(folder, { throwIfNoEntry: false }) !== undefined) return false;
  makeMissing(dirname(folder), made);
  mkdirSync(folder, { mode: 0o755 });
  made.push(folder);
  return true;
}

function keepOld(place: string): void {
  const stats = lstatSync(place, { throwIfNoEntry: false });
  if (stats?.isSymbolicLink()) symlinkSync(readlinkSync(place), kept(place));
  else if (stats !== undefined) linkSync(place, kept(place));
}

function putBack(place: string): void {
  trying(() => {
    if (lstatSync(kept(place), { throwIfNoEntry: false }) === undefined) rmSync(place, { force: true });
    else renameSync(kept(place), place);
  });
}

/** Ignores failures while restoring: the disk is broken then, and the report on the first failure says so. */
function trying(act: () => void): void {
  try {
    act();
  } catch {
    // The first failure is reported.
  }
}

function syncFolders(folders: readonly string[]): void {
  for (const folder of new Set(folders)) syncFolder(folder);
}

/** Makes a new name survive a power cut. */
export function syncFolder(folder: string): void {
  const fd = openSync(folder, 'r');
  try {
    fsyncSync(fd);
  } finally {
    closeSync(fd);
  }
}
