import { createHash } from 'node:crypto';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Entry, isBytes, writeTree } from './file-tree.ts';
import { MAINTAINER, type Package } from './packages.ts';
import { runTool } from './tools.ts';

/** Makes the file of a package with dpkg-deb. */
export function writePackage(one: Package, root: string, file: string): void {
  const tree = mkdtempSync(join(tmpdir(), 'dragoman-package-'));
  try {
    const control = controlOf(one, root).map((entry) => ({ ...entry, path: `DEBIAN/${entry.path}` }));
    writeTree(tree, [...one.files, ...control], one.changedAt);
    // xz would save little, and needs a minute for the private Node.js.
    runTool('dpkg-deb', ['--root-owner-group', '-Zgzip', '-z6', '--build', tree, file], {
      env: { SOURCE_DATE_EPOCH: String(one.changedAt) },
    });
  } finally {
    rmSync(tree, { recursive: true });
  }
}

/** The file name of a package: without the epoch of the version, as Debian does it. */
export const fileNameOf = ({
  name,
  version,
  architecture,
}: {
  readonly name: string;
  readonly version: string;
  readonly architecture: string;
}): string => `${name}_${version.replace(/^\d+:/, '')}_${architecture}.deb`;

const SCRIPTS = ['postinst', 'prerm', 'postrm'];

/** What dpkg reads of a package: fields, checksums, maintainer scripts, and the list of configuration files. */
function controlOf(one: Package, root: string): Entry[] {
  const fields = {
    Package: one.name,
    Version: one.version,
    Architecture: one.architecture,
    Maintainer: MAINTAINER,
    'Installed-Size': String(installedKib(one.files)),
    ...(one.depends === null ? {} : { Depends: one.depends }),
    ...(one.recommends === undefined ? {} : { Recommends: one.recommends }),
    Section: 'sound',
    Priority: 'optional',
    'Multi-Arch': 'foreign',
    Description: `${one.summary}\n${one.description.map((line) => ` ${line === '' ? '.' : line}\n`).join('')}`,
  };
  const control = Object.entries(fields)
    .map(([name, value]) => `${name}: ${value}`)
    .join('\n');
  const conffiles = one.files
    .filter(({ path, content }) => path.startsWith('etc/') && typeof content === 'string')
    .map(({ path }) => `/${path}\n`);
  const scripts = SCRIPTS.flatMap((script) => {
    const file = join(root, 'scripts/deb/maintainer', `${one.name}.${script}`);
    return existsSync(file) ? [{ path: script, content: readFileSync(file), mode: 0o755 }] : [];
  });
  return [
    { path: 'control', content: control },
    { path: 'md5sums', content: md5sums(one.files) },
    ...(conffiles.length === 0 ? [] : [{ path: 'conffiles', content: conffiles.join('') }]),
    ...scripts,
  ];
}

function md5sums(files: readonly Entry[]): string {
  return files
    .flatMap(({ path, content }) =>
      isBytes(content) ? [`${createHash('md5').update(content).digest('hex')}  ${path}\n`] : [],
    )
    .join('');
}

/** Installed size as Debian estimates it (KiB): each file rounded up, 1 for a folder or link. */
const installedKib = (files: readonly Entry[]): number =>
  files
    .map(({ content }) => (isBytes(content) ? Math.max(1, Math.ceil(Buffer.byteLength(content) / 1024)) : 1))
    .reduce((sum, kib) => sum + kib, 0);
