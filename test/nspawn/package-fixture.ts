/** A container for installing the packages, and the packages. */
import { execFile, execFileSync } from 'node:child_process';
import {
  appendFileSync,
  chmodSync,
  cpSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { onceARun } from '../once-a-run.ts';
import { boot, type Machine } from './container.ts';
import type { Debian } from './setup.ts';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));

export interface PackageFixture {
  readonly machine: Machine;
  /** The folder of this machine that is /mnt in the container. */
  readonly folder: string;
  /** Path in the container of the first package whose file name starts with this. */
  file(start: string): string;
  /** Makes the same package with another version, and with an addition to its configuration. */
  remake(start: string, version: string, addition?: string): void;
  close(): Promise<void>;
}

/** The version of the built packages. */
export const BUILT = '1.0.0-1';

/** Opens a container with all packages in /mnt, and `scripts` in /srv. */
export async function openPackageFixture(
  debian: Extract<Debian, { missing: null }>,
): Promise<PackageFixture> {
  const built = await onceARun('packages', async (into) => {
    const words = ['--version', BUILT, '--out', into];
    await promisify(execFile)('scripts/build-deb', words, { cwd: ROOT });
  });
  const debs = mkdtempSync(join(tmpdir(), 'dragoman-debs-'));
  chmodSync(debs, 0o755);
  const find = (start: string): string =>
    readdirSync(debs).find((name) => name.startsWith(start)) ?? `no-${start}`;
  try {
    cpSync(built, debs, { recursive: true });
    const machine = await boot(debian, [
      { from: debs, to: '/mnt' },
      { from: join(ROOT, 'scripts'), to: '/srv' },
    ]);
    return {
      machine,
      folder: debs,
      file: (start) => `/mnt/${find(start)}`,
      remake: (start, other, addition) => remake(join(debs, find(start)), other, addition),
      async close() {
        await machine.stop();
        rmSync(debs, { recursive: true });
      },
    };
  } catch (error) {
    rmSync(debs, { recursive: true, force: true });
    throw error;
  }
}

function remake(deb: string, version: string, addition = ''): void {
  const place = mkdtempSync(join(tmpdir(), 'dragoman-remade-'));
  const dpkg = (...words: string[]) => execFileSync('dpkg-deb', words, { stdio: 'pipe' });
  dpkg('--raw-extract', deb, place);
  const control = join(place, 'DEBIAN/control');
  writeFileSync(control, readFileSync(control, 'utf8').replace(/^Version: .*$/m, `Version: ${version}`));
  if (addition !== '') appendFileSync(join(place, 'etc/dragoman/config.json'), addition);
  dpkg('--root-owner-group', '-Zgzip', '-z1', '--build', place, deb.replace(/_[^_]+_/, `_${version}_`));
  rmSync(place, { recursive: true });
}
