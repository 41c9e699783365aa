/** Releases for the tests of the updater, good and bad, in signed repositories. */
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const PROGRAM = 'usr/lib/dragoman';
const DAY_MS = 86_400_000;
const sha256 = (content: Buffer | string): string => createHash('sha256').update(content).digest('hex');

/** Makes another version of the agent's package. @param start the program's first file; left out: the same as in the package */
export function remakeRelease(deb: string, version: string, into: string, start?: string): void {
  const place = mkdtempSync(join(tmpdir(), 'dragoman-release-'));
  const dpkg = (...words: string[]) => execFileSync('dpkg-deb', words, { stdio: 'pipe' });
  try {
    dpkg('--raw-extract', deb, place);
    const control = join(place, 'DEBIAN/control');
    const before = /^Version: (.*)$/m.exec(readFileSync(control, 'utf8'))?.[1] ?? '';
    replaceIn(control, `Version: ${before}`, `Version: ${version}`);
    replaceIn(join(place, 'usr/bin/dragoman'), before, version);
    const program = join(place, PROGRAM);
    replaceIn(join(program, 'release.json'), before, version);
    if (start !== undefined) writeFileSync(join(program, 'dragoman.mjs'), start);
    const sums = readdirSync(program)
      .filter((name) => name !== 'SHA256SUMS')
      .map((name) => `${sha256(readFileSync(join(program, name)))}  ${name}\n`);
    writeFileSync(join(program, 'SHA256SUMS'), sums.join(''));
    mkdirSync(into, { recursive: true });
    dpkg('--root-owner-group', '-Zgzip', '-z1', '--build', place, join(into, `dragoman_${version}_all.deb`));
  } finally {
    rmSync(place, { recursive: true });
  }
}

function replaceIn(path: string, what: string, by: string): void {
  const text = readFileSync(path, 'utf8');
  if (!text.includes(what)) throw new Error(`${path} has no ${what}`);
  writeFileSync(path, text.replaceAll(what, by));
}

/** A key of a repository. */
export interface RepositoryKey {
  readonly publicKey: Buffer;
  clearSign(text: string): Buffer;
  close(): void;
}

export function makeKey(name: string): RepositoryKey {
  const home = mkdtempSync(join(tmpdir(), 'dragoman-key-'));
  const gpg = (input: string, ...words: string[]): Buffer =>
    execFileSync('gpg', ['--homedir', home, '--batch', '--quiet', ...words], { input, stdio: 'pipe' });
  gpg('', '--passphrase', '', '--quick-gen-key', name, 'ed25519', 'sign', 'never');
  return {
    publicKey: gpg('', '--export'),
    clearSign: (text) => gpg(text, '--clearsign'),
    close() {
      execFileSync('gpgconf', ['--homedir', home, '--kill', 'gpg-agent']);
      rmSync(home, { recursive: true, force: true });
    },
  };
}

/** Signs the packages of `pool` in a folder as the suite "stable". */
export function signRepository(folder: string, key: RepositoryKey): void {
  const pool = join(folder, 'pool');
  const packages = readdirSync(pool).map((name) => {
    const content = readFileSync(join(pool, name));
    const control = execFileSync('dpkg-deb', ['-f', join(pool, name)], { encoding: 'utf8' }).trimEnd();
    return `${control}\nFilename: pool/${name}\nSize: ${content.length}\nSHA256: ${sha256(content)}\n`;
  });
  const text = packages.join('\n');
  const names = ['all', 'amd64', 'arm64'].map((architecture) => `main/binary-${architecture}/Packages`);
  const suite = join(folder, 'dists/stable');
  for (const name of names) {
    mkdirSync(join(suite, name, '..'), { recursive: true });
    writeFileSync(join(suite, name), text);
  }
  const now = Date.now();
  const release = [
    'Origin: Dragoman',
    'Suite: stable',
    'Codename: stable',
    'Components: main',
    'Architectures: all amd64 arm64',
    `Date: ${new Date(now - 60_000).toUTCString().replace('GMT', 'UTC')}`,
    `Valid-Until: ${new Date(now + DAY_MS).toUTCString().replace('GMT', 'UTC')}`,
    'SHA256:',
    ...names.map((name) => ` ${sha256(text)} ${Buffer.byteLength(text)} ${name}`),
  ];
  writeFileSync(join(suite, 'InRelease'), key.clearSign(`${release.join('\n')}\n`));
}
