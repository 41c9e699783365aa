/** Small packages, keys and repositories for tests of `scripts/release`. */
import { execFileSync, spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
/** Time of everything that is built. */
export const BUILT_AT = '1700000000';

export interface Ran {
  readonly code: number | null;
  readonly said: string;
}

interface Surroundings {
  readonly env?: Readonly<Record<string, string>>;
  readonly umask?: string;
}

export interface Key {
  /** The public key as text, and in binary form. */
  readonly publics: string;
  readonly binary: string;
  readonly secret: string;
  readonly fingerprint: string;
  /** gpg's folder. */
  readonly home: string;
  /** Runs gpg with this key. */
  gpg(...words: string[]): void;
}

export interface KeyOptions {
  readonly expires?: string;
  /** As gpg names it. */
  readonly kind?: string;
  /** Further options of gpg. */
  readonly how?: readonly string[];
}

/** A folder with what a release needs. */
export interface ReleaseFixture {
  readonly folder: string;
  /** Makes a key. */
  key(name: string, options?: KeyOptions): Key;
  /** Makes a small package in `FOLDER/debs`. */
  deb(
    name: string,
    version: string,
    options?: { architecture?: string; text?: string; debs?: string },
  ): string;
  /** Runs `scripts/release`. */
  release(words: readonly string[], surroundings?: Surroundings): Ran;
  /** The same; throws if it fails. */
  must(words: readonly string[], surroundings?: Surroundings): string;
  close(): void;
}

/** The reason why a repository cannot be made here, or null. */
export function noRelease(): string | null {
  for (const [tool, name] of [
    ['apt-ftparchive', 'apt-utils'],
    ['gpg', 'gpg'],
    ['dpkg-deb', 'dpkg'],
  ] as const)
    if (spawnSync(tool, ['--version']).status !== 0) return `no ${tool} (${name})`;
  return null;
}

export function openReleaseFixture(): ReleaseFixture {
  const folder = mkdtempSync(join(tmpdir(), 'dragoman-release-'));
  const homes: string[] = [];
  const release = (words: readonly string[], { env = {}, umask = '022' }: Surroundings = {}): Ran => {
    const { status, stdout, stderr } = spawnSync(
      'sh',
      ['-c', `umask ${umask}; exec "$@"`, 'sh', join(ROOT, 'scripts/release'), ...words],
      {
        cwd: folder,
        encoding: 'utf8',
        env: { PATH: process.env['PATH'], HOME: folder, SOURCE_DATE_EPOCH: BUILT_AT, ...env },
      },
    );
    return { code: status, said: `${stdout}${stderr}` };
  };
  return {
    folder,
    release,
    must(words, surroundings) {
      const { code, said } = release(words, surroundings);
      if (code !== 0) throw new Error(`release ${words.join(' ')} ended with ${code}: ${said}`);
      return said;
    },
    key(name, { expires = 'never', kind = 'ed25519', how = [] } = {}) {
      const home = mkdtempSync(join(tmpdir(), 'key-'));
      homes.push(home);
      const gpg = (...words: string[]) =>
        execFileSync('gpg', ['--homedir', home, '--batch', '--quiet', '--passphrase', '', ...words], {
          stdio: 'pipe',
        });
      gpg(...how, '--quick-generate-key', `Archive ${name} <${name}@example.invalid>`, kind, 'sign', expires);
      const file = (ending: string): string => join(folder, `${name}.${ending}`);
      const [publics, binary, secret] = [file('asc'), file('gpg'), file('secret')];
      writeFileSync(publics, gpg('--armor', '--export'));
      writeFileSync(binary, gpg('--export'));
      writeFileSync(secret, gpg('--armor', '--export-secret-keys'), { mode: 0o600 });
      const list = gpg('--with-colons', '--list-keys').toString();
      const fingerprint = /^fpr:+([0-9A-F]+):/m.exec(list)?.[1] ?? '';
      return { publics, binary, secret, fingerprint, home, gpg };
    },
    deb(name, version, { architecture = 'all', text = version, debs = 'debs' } = {}) {
      const place = mkdtempSync(join(tmpdir(), 'package-'));
      mkdirSync(join(place, 'DEBIAN'));
      mkdirSync(join(folder, debs), { recursive: true });
      const fields = `Package: ${name}\nVersion: ${version}\nArchitecture: ${architecture}\nMaintainer: a test <test@example.invalid>\n`;
      writeFileSync(join(place, 'DEBIAN/control'), `${fields}Description: small\n`);
      mkdirSync(join(place, 'usr/share', name), { recursive: true });
      writeFileSync(join(place, 'usr/share', name, 'text'), `${text}\n`);
      const file = join(folder, debs, `${name}_${version}_${architecture}.deb`);
      execFileSync('dpkg-deb', ['--root-owner-group', '-Zgzip', '--build', place, file], {
        stdio: 'pipe',
        env: { ...process.env, SOURCE_DATE_EPOCH: BUILT_AT },
      });
      rmSync(place, { recursive: true });
      return file;
    },
    close() {
      for (const home of homes) {
        spawnSync('gpgconf', ['--homedir', home, '--kill', 'all']);
        rmSync(home, { recursive: true, force: true });
      }
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** The content of all files below a folder, by their path. */
export function filesOf(folder: string): Map<string, string> {
  const paths = readdirSync(folder, { recursive: true, encoding: 'utf8' }).sort();
  return new Map(
    paths
      .filter((path) => statSync(join(folder, path)).isFile())
      .map((path) => [path, readFileSync(join(folder, path), 'latin1')]),
  );
}
