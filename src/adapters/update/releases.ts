import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Releases } from '../../ports/update.ts';
import { type Release, releaseSchema } from '../../protocol/common/update.ts';
import { systemCode } from '../system-error.ts';

/** The program's folder in its package. */
export const PROGRAM_FOLDER = 'usr/lib/dragoman';
/** Checksums of all other files in that folder, as sha256sum writes them. The launcher checks them, too. */
export const CHECKSUMS = 'SHA256SUMS';
export const RELEASE_FILE = 'release.json';

const LINE = /^([0-9a-f]{64}) {2}([\w.@-]+)$/;

/** @param root the folder that contains the folder of unpacked versions */
export function createReleases(root: string): Releases {
  return {
    async read(folder) {
      try {
        return await readRelease(join(root, folder, PROGRAM_FOLDER));
      } catch (error) {
        // A file is missing or cannot be read, or the release is not JSON.
        if (systemCode(error) === null && !(error instanceof SyntaxError)) throw error;
        return null;
      }
    },
  };
}

/** The release in a program's folder; null: a file differs from the list. @throws if a file is missing */
export async function readRelease(program: string): Promise<Release | null> {
  const lines = (await readFile(join(program, CHECKSUMS), 'utf8')).split('\n').filter((line) => line !== '');
  const sums = new Map<string, string>();
  for (const line of lines) {
    const [, sum, name] = LINE.exec(line) ?? [];
    if (sum === undefined || name === undefined) return null;
    sums.set(name, sum);
  }
  for (const [name, sum] of sums) {
    const content = await readFile(join(program, name));
    if (createHash('sha256').update(content).digest('hex') !== sum) return null;
  }
  const names = (await readdir(program)).filter((name) => name !== CHECKSUMS);
  if (!sums.has(RELEASE_FILE) || names.some((name) => !sums.has(name))) return null;
  const release = releaseSchema.safeParse(JSON.parse(await readFile(join(program, RELEASE_FILE), 'utf8')));
  return release.success ? release.data : null;
}
