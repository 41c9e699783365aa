/** What somebody who controls the network, the web server or a stick can do to a repository for apt. */
import {
  appendFileSync,
  cpSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import type { Key, ReleaseFixture } from '../deb/repository-fixture.ts';
import type { Steering } from './apt-device.ts';

/** A repository with version 1.0.0, and a later one with 1.1.0, too. */
export const [OLD, NEW] = ['1.0.0-1', '1.1.0-1'];
const DAY_S = 86_400;
const IN_RELEASE = 'dists/stable/InRelease';
const LISTS = 'dists/stable/main/binary-amd64';
const DEB = `pool/main/d/dragoman/dragoman_${NEW}_all.deb`;

export interface Keys {
  readonly ours: Key;
  readonly next: Key;
  readonly foreign: Key;
}

export interface Attack {
  /** What a device is offered that knows the version before. */
  readonly name: string;
  /** Changes a copy of the new repository. */
  prepare?(copy: Copy): void;
  readonly steering?: Steering;
  /** What apt says. */
  readonly says: RegExp;
}

/** A copy of the new repository, which an attack changes. */
export interface Copy {
  readonly keys: Keys;
  /** The path of a file of the copy. */
  at(path: string): string;
  /** The path of the same file in the old repository. */
  old(path: string): string;
  /** @param days from now on, when it was signed */
  sign(keys: readonly Key[], days: number, validDays?: number): void;
}

/** Both repositories, signed in order, and how to make copies. */
export interface Repositories {
  readonly keys: Keys;
  /** @returns the folder of the copy */
  copy(name: string, change: (copy: Copy) => void): string;
}

const daysFromNow = (days: number): string => String(Math.floor(Date.now() / 1000) + days * DAY_S);

export function makeRepositories(fixture: ReleaseFixture): Repositories {
  const keys: Keys = {
    ours: fixture.key('ours'),
    next: fixture.key('next'),
    foreign: fixture.key('foreign'),
  };
  const at = (...path: string[]): string => join(fixture.folder, ...path);
  const sign = (repository: string, by: readonly Key[], days: number, validDays = 90): void => {
    const words = ['sign', '--days', String(validDays), ...by.flatMap(({ secret }) => ['--key', secret])];
    fixture.must([...words, repository], { env: { SOURCE_DATE_EPOCH: daysFromNow(days) } });
  };
  const duplicate = (from: string, to: string): void =>
    cpSync(at(from), at(to), { recursive: true, preserveTimestamps: true });
  for (const [repository, version, days] of [
    ['old', OLD, -20],
    ['new', NEW, -10],
  ] as const) {
    if (repository === 'new') duplicate('old', 'new');
    fixture.deb('dragoman', version, { debs: `debs-${version}` });
    fixture.must(['build', '--repository', repository, '--debs', `debs-${version}`]);
    sign(repository, [keys.ours], days);
  }
  return {
    keys,
    copy(name, change) {
      duplicate('new', name);
      change({
        keys,
        at: (path) => at(name, path),
        old: (path) => at('old', path),
        sign: (by, days, validDays) => sign(name, by, days, validDays),
      });
      return name;
    },
  };
}

/** The index is refused: the device goes on with the one before, or has none. */
export const ON_INDEX: readonly Attack[] = [
  {
    name: 'an index that is valid no more (freeze)',
    // Two days past its end, because apt says "24h" of exactly one.
    prepare: ({ sign, keys }) => sign([keys.ours], -3, 1),
    says: /is expired \(invalid since 2d/,
  },
  {
    name: 'an index of the day after tomorrow',
    prepare: ({ sign, keys }) => sign([keys.ours], 2),
    says: /is not valid yet \(invalid for another 1d/,
  },
  {
    name: 'an index signed with a foreign key',
    prepare: ({ sign, keys }) => sign([keys.foreign], 0),
    says: /NO_PUBKEY|Missing key/,
  },
  {
    name: 'an index signed with two unknown keys',
    prepare: ({ sign, keys }) => sign([keys.foreign, keys.next], 0),
    says: /NO_PUBKEY|Missing key/,
  },
  {
    name: 'an index without a signature',
    prepare: ({ at }) => rmSync(at(IN_RELEASE)),
    says: /stable Release' is (?:not|no longer) signed/,
  },
  {
    name: 'an index changed after its signature',
    prepare: ({ at }) => change(at(IN_RELEASE), (text) => text.replace('Label: Dragoman', 'Label: dragoman')),
    says: /BADSIG|has been manipulated/,
  },
  {
    name: 'an index with text behind its signature',
    prepare: ({ at }) => appendFileSync(at(IN_RELEASE), '\nDate: today\n'),
    says: /into data and signature failed/,
  },
  {
    name: 'an index signed with SHA-1',
    prepare({ at, keys }) {
      const text = signedText(at(IN_RELEASE));
      writeFileSync(at('text'), text);
      keys.ours.gpg('--yes', '--digest-algo', 'SHA1', '--output', at(IN_RELEASE), '--clearsign', at('text'));
    },
    says: /signatures were invalid: [0-9A-F]{40}|SHA1/,
  },
  {
    name: 'lists with other bytes',
    prepare: ({ at }) => forEachFile(at(LISTS), flipBit),
    says: /Hash Sum mismatch/,
  },
  {
    name: 'the lists before, under a new index (mix and match)',
    prepare({ at, old }) {
      rmSync(at(LISTS), { recursive: true });
      cpSync(old(LISTS), at(LISTS), { recursive: true });
    },
    says: /unexpected size/,
  },
  {
    name: 'no lists',
    prepare: ({ at }) => rmSync(at(LISTS), { recursive: true }),
    says: /Packages {2}404 {2}Not Found/,
  },
  { name: 'the page of a Wi-Fi network', steering: { portal: true }, says: /does the network require auth/ },
  { name: 'an endless index', steering: { endless: 'InRelease' }, says: /is (?:not|no longer) signed/ },
  { name: 'endless lists', steering: { endless: 'binary-' }, says: /unexpected size/ },
  { name: 'an index that stops half-way', steering: { stalled: 'InRelease' }, says: /Connection timed out/ },
  { name: 'nothing', steering: { missing: '.' }, says: /(?:does not have|no longer has) a Release file/ },
];

/** The index is good, the package is refused. */
export const ON_PACKAGE: readonly Attack[] = [
  { name: 'a package with other bytes', prepare: ({ at }) => flipBit(at(DEB)), says: /Hash Sum mismatch/ },
  {
    name: 'the package before, under the new name',
    prepare: ({ at }) => renameSync(at(DEB.replace(NEW, OLD)), at(DEB)),
    says: /unexpected size|Hash Sum mismatch/,
  },
  { name: 'an endless package', steering: { endless: 'deb$' }, says: /unexpected size/ },
  { name: 'a package that stops half-way', steering: { stalled: 'deb$' }, says: /Connection timed out/ },
  { name: 'no package', steering: { missing: 'deb$' }, says: /404 {2}Not Found/ },
];

/** The text above a signature. */
const signedText = (file: string): string =>
  readFileSync(file, 'utf8')
    .replace(/-----BEGIN PGP SIGNATURE[\s\S]*/, '')
    .replace(/^[\s\S]*?\n\n/, '');

const change = (file: string, by: (text: string) => string): void =>
  writeFileSync(file, by(readFileSync(file, 'utf8')));

function forEachFile(folder: string, act: (file: string) => void): void {
  for (const name of readdirSync(folder, { recursive: true, encoding: 'utf8' }))
    if (statSync(join(folder, name)).isFile()) act(join(folder, name));
}

/** The same size, another byte. */
function flipBit(file: string): void {
  const bytes = readFileSync(file);
  const place = bytes.length - 5;
  bytes.writeUInt8(bytes.readUInt8(place) ^ 1, place);
  writeFileSync(file, bytes);
}
