/** The inputs of kept results: if any input changes, the result is made again. */
import { execFileSync, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, lstatSync, readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { join } from 'node:path';
import { readOptions as readDebOptions } from '../deb/deb-options.ts';

/** Debian packages whose programs affect the contents of the image. */
const PROGRAMS_FOR_PACKAGES = ['espeak-ng*', 'libespeak-ng*', 'sox', 'libsox*'];
const PROGRAMS_FOR_IMAGE = ['e2fsprogs', 'mtools', 'mmdebstrap'];
/** Packages do not depend on the tests, which change most often. */
const NOT_IN_PACKAGES = /^test\//;

/** Inputs of the packages of Dragoman; null: without git, sources cannot be told from other files. */
export function packagesAreMadeFrom(sources: string, epoch: number): string[] | null {
  const files = filesOf(sources);
  if (files === null) return null;
  const installed = join(sources, 'node_modules/.package-lock.json');
  return [
    readDebOptions(['--no-node'], sources)?.version ?? '',
    String(epoch),
    process.version,
    digestOf(
      sources,
      files.filter((name) => !NOT_IN_PACKAGES.test(name)),
    ),
    existsSync(installed) ? readFileSync(installed, 'utf8') : '',
    versionsOf(PROGRAMS_FOR_PACKAGES),
  ];
}

/** Inputs of a root and its partitions, besides the Debian, the packages and the ids. */
export function imageIsMadeFrom(sources: string): string[] {
  const scripts = join(sources, 'scripts/image');
  const names = readdirSync(scripts, { recursive: true, encoding: 'utf8' }).sort();
  return [digestOf(scripts, names), versionsOf(PROGRAMS_FOR_IMAGE)];
}

/** Files of the working tree that git does not ignore. */
function filesOf(sources: string): string[] | null {
  try {
    const words = ['-C', sources, 'ls-files', '-z', '--cached', '--others', '--exclude-standard'];
    const names = execFileSync('git', words, { encoding: 'utf8', stdio: 'pipe', maxBuffer: 2 ** 26 });
    return [...new Set(names.split('\0'))].filter((name) => name !== '').sort();
  } catch {
    return null;
  }
}

/** A digest of the names, modes and contents of files. */
function digestOf(folder: string, names: readonly string[]): string {
  const sum = createHash('sha256');
  for (const name of names) {
    const path = join(folder, name);
    const found = lstatSync(path, { throwIfNoEntry: false });
    if (found === undefined || found.isDirectory()) continue;
    const content = found.isSymbolicLink() ? Buffer.from(readlinkSync(path)) : readFileSync(path);
    sum.update(JSON.stringify([name, found.mode, content.length])).update(content);
  }
  return sum.digest('hex');
}

/** Versions of installed Debian packages; patterns without a package do not matter. */
function versionsOf(patterns: readonly string[]): string {
  return spawnSync('dpkg-query', ['-W', ...patterns], { encoding: 'utf8' }).stdout ?? '';
}
