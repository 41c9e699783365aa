import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { deb, type Entry, installedKib } from './archive.ts';
import { MAINTAINER, type Package } from './packages.ts';

/** The bytes of a package. */
export const packageFile = (one: Package, root: string): Buffer =>
  deb(controlOf(one, root), one.files, one.changedAt);

/** Without the epoch of the version, as Debian names its files. */
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

/** The control archive of a package: fields, maintainer scripts, and the list of configuration files. */
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
    ...(conffiles.length === 0 ? [] : [{ path: 'conffiles', content: conffiles.join('') }]),
    ...scripts,
  ];
}
