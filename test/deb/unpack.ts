import { spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';

/** Unpacks the members of a package, which is an `ar` archive, below `place`, and lists its data. */
export function unpack(file: string, place: string): string {
  const bytes = readFileSync(file);
  expect(bytes.toString('latin1', 0, 8)).toBe('!<arch>\n');
  let listing = '';
  for (let at = 8; at < bytes.length; ) {
    const member = bytes.toString('latin1', at, at + 16).trim();
    const size = Number(bytes.toString('latin1', at + 48, at + 58));
    const to = join(place, member.replace(/\..*/, ''));
    if (member.endsWith('.tar.gz')) {
      mkdirSync(to, { recursive: true });
      const archive = `${to}.tar.gz`;
      writeFileSync(archive, bytes.subarray(at + 60, at + 60 + size));
      const words = ['--same-permissions', '-xzf', archive, '-C', to];
      expect(spawnSync('tar', words, { encoding: 'utf8' }).stderr).toBe('');
      listing = spawnSync('tar', ['-tvzf', archive], { encoding: 'utf8', env: { TZ: 'UTC' } }).stdout;
    }
    at += 60 + size + (size % 2);
  }
  return listing;
}
