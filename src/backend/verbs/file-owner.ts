import { spawnSync } from 'node:child_process';

/** User and group of a file by their names, such as "root:root"; null: there is no file, or no name. */
export function ownerOf(path: string): string | null {
  const { status, stdout } = spawnSync('stat', ['-c', '%U:%G', path], { encoding: 'utf8' });
  const owner = status === 0 ? stdout.trim() : '';
  return owner === '' || owner.includes('UNKNOWN') ? null : owner;
}

/** Gives a file, or a folder with all in it, to this user and group. Only root can; others own what they write. @returns whether it worked */
export function giveTo(owner: string, path: string): boolean {
  if (process.getuid?.() !== 0) return true;
  return spawnSync('chown', ['-R', owner, path]).status === 0;
}
