import { spawnSync } from 'node:child_process';

/** Names of a file's user and group, such as "root:root"; null: no such file, or one of the two has no name. */
export function ownerOf(path: string): string | null {
  const { status, stdout } = spawnSync('stat', ['-c', '%U:%G', path], { encoding: 'utf8' });
  const owner = status === 0 ? stdout.trim() : '';
  return owner === '' || owner.includes('UNKNOWN') ? null : owner;
}

/** Gives a file, or a folder with its content, to this user and group. Does nothing unless run as root. @returns success */
export function giveTo(owner: string, path: string): boolean {
  if (process.getuid?.() !== 0) return true;
  return spawnSync('chown', ['-R', owner, path]).status === 0;
}
