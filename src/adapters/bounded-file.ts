import { closeSync, constants, fstatSync, openSync, readSync } from 'node:fs';

/**
 * Reads a file in a folder of another user, who must not be able to redirect, block or exhaust this program: links are not
 * followed, pipes are not waited for, and files above `mostBytes` are not read.
 * @returns null if the file is absent, unreadable, too large or not a regular file
 */
export function readBounded(path: string, mostBytes: number): Buffer | null {
  let file: number;
  try {
    file = openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  } catch {
    return null;
  }
  try {
    const stat = fstatSync(file);
    if (!stat.isFile() || stat.size > mostBytes) return null;
    const bytes = Buffer.alloc(stat.size);
    return bytes.subarray(0, readSync(file, bytes, 0, bytes.length, 0));
  } catch {
    return null;
  } finally {
    closeSync(file);
  }
}
