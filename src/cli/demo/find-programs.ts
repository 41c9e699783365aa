import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Failure } from '../../program/problem.ts';

/**
 * The bundles of the other two programs: in this program's folder, as the build makes them, or in the folders of their
 * packages beside it.
 * @throws Failure that says how to get the missing ones
 */
export function findPrograms(folder = dirname(fileURLToPath(import.meta.url))): {
  readonly emulator: string;
  readonly backend: string;
} {
  const paths = { emulator: find(folder, 'emulator'), backend: find(folder, 'backend') };
  const { emulator, backend } = paths;
  if (emulator !== null && backend !== null) return { emulator, backend };
  const missing = Object.entries(paths).flatMap(([name, path]) => (path === null ? [name] : []));
  // Building needs the sources; an installed or updated program may be in any folder.
  const hasSources = existsSync(join(dirname(folder), 'package.json'));
  throw new Failure(
    !hasSources
      ? `the demo needs the other programs, too: install ${missing.map((name) => `dragoman-${name}`).join(' and ')}, as "apt install ${missing.map((name) => `./dragoman-${name}_*.deb`).join(' ')}" does`
      : `${missing.map((name) => `${name}.mjs`).join(' and ')} missing in ${folder}: run "npm run build", which puts the three programs into one folder`,
  );
}

function find(folder: string, name: string): string | null {
  const places = [join(folder, `${name}.mjs`), join(dirname(folder), `dragoman-${name}`, `${name}.mjs`)];
  return places.find((path) => existsSync(path)) ?? null;
}
