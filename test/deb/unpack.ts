import { execFileSync } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';

/** Unpacks a package into `control` and `data` below `place`, and lists its data. */
export function unpack(file: string, place: string): string {
  const dpkg = (...words: string[]): string =>
    execFileSync('dpkg-deb', words, { encoding: 'utf8', env: { ...process.env, TZ: 'UTC' } });
  mkdirSync(place, { recursive: true });
  dpkg('--control', file, join(place, 'control'));
  dpkg('--extract', file, join(place, 'data'));
  return dpkg('--contents', file);
}
