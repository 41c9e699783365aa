import { constants } from 'node:fs';
import {
  mkdir,
  open,
  readdir,
  readFile,
  readlink,
  rename,
  rm,
  statfs,
  symlink,
  writeFile,
} from 'node:fs/promises';
import { join } from 'node:path';
import { type UpdateFiles, UpdateTrouble } from '../../ports/update.ts';
import { systemCode, systemReason } from '../system-error.ts';

const SENTENCES: Readonly<Record<string, string>> = {
  ENOSPC: 'the disk is full; remove something, and order the update again',
  EDQUOT: 'the disk is full; remove something, and order the update again',
  EROFS: 'the disk is read-only: the card may be worn out',
  EIO: 'the disk reports an error: the card may be worn out',
};

/** The updater's folder on the disk. */
export function createUpdateFiles(root: string): UpdateFiles {
  const full = (path: string): string => join(root, path);
  const act = async <T>(path: string, work: () => Promise<T>): Promise<T> => {
    try {
      return await work();
    } catch (error) {
      throw troubleOf(error, full(path));
    }
  };
  const syncAll = async (path: string): Promise<void> => {
    for (const entry of await readdir(path, { withFileTypes: true })) {
      const below = join(path, entry.name);
      if (entry.isDirectory()) await syncAll(below);
      else if (entry.isFile()) await syncOne(below);
    }
    await syncOne(path);
  };
  return {
    read: (path) => act(path, () => readFile(full(path), 'utf8').catch(unlessMissing(null))),
    list: (path) => act(path, () => readdir(full(path)).catch(unlessMissing([]))),
    readLink: (path) => act(path, () => readlink(full(path)).catch(unlessMissing(null))),
    makeFolder: (path) => act(path, async () => void (await mkdir(full(path), { recursive: true }))),
    write: (path, text) => act(path, () => writeFile(full(path), text)),
    link: (target, path) => act(path, () => symlink(target, full(path))),
    rename: (from, to) => act(to, () => rename(full(from), full(to))),
    remove: (path) => act(path, () => rm(full(path), { recursive: true, force: true })),
    sync: (path) => act(path, () => syncOne(full(path))),
    syncAll: (path) => act(path, () => syncAll(full(path))),
    free: () =>
      act('', async () => {
        const { bavail, bsize } = await statfs(root);
        return bavail * bsize;
      }),
  };
}

/** A disk error as a sentence; other errors are returned unchanged. */
export function troubleOf(error: unknown, path: string): unknown {
  const code = systemCode(error);
  if (code === null) return error;
  return new UpdateTrouble(SENTENCES[code] ?? `${path} cannot be used: ${systemReason(error)}`);
}

const unlessMissing =
  <T>(otherwise: T) =>
  (error: unknown): T => {
    if (systemCode(error) === 'ENOENT') return otherwise;
    throw error;
  };

async function syncOne(path: string): Promise<void> {
  const file = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW);
  try {
    await file.sync();
  } finally {
    await file.close();
  }
}
