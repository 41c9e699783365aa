import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';

export const COMPRESSIONS = ['xz', 'zstd', 'none'] as const;
export type Compression = (typeof COMPRESSIONS)[number];
/** Debian 12 has no Node that is new enough. */
const SUITES = ['trixie'];

export const USAGE = `Usage: scripts/build-image [options]

Makes an image for the card of a Raspberry Pi 3 or 4: Debian for arm64 and the
package dragoman, with a read-only root and a data partition.
Run "npm ci" first. Needs no loop device and mounts nothing.

Options:
  --out <folder>     folder for the image (default: images)
  --suite <name>     Debian release: trixie (default)
  --debs <folder>    take the packages from here, made by scripts/build-deb,
                     instead of making them
  --screen           with dragoman-screen: browser, fonts, and the kiosk's page
                     on the screen (set "screen.enabled" in dragoman.json)
  --private-node     with dragoman-node, the private Node.js, beside Debian's
  --keyring <file>   with this package dragoman-archive-keyring, made by
                     scripts/release: the kiosk needs its keys for updates
  --compress <kind>  xz (default), zstd, or none
  --fresh            make everything again; otherwise earlier results are
                     reused: the Debian for a week, all others until an
                     input changes
  --root <folder>    take this folder as the Debian, and install nothing in it
  -h, --help         this text

Beside the image: its checksum (.sha256) and all packages in it (.packages).
Debian's packages come from where this machine's apt gets them, or from
DRAGOMAN_DEBIAN_MIRROR; results are kept in DRAGOMAN_CACHE. The time in
the image is SOURCE_DATE_EPOCH or, without it, that of the last commit.
`;

export interface Options {
  readonly out: string;
  readonly suite: string;
  readonly debs: string | null;
  readonly hasScreen: boolean;
  readonly hasPrivateNode: boolean;
  /** A package file; null: the device cannot check updates. */
  readonly keyring: string | null;
  readonly compression: Compression;
  readonly isFresh: boolean;
  readonly root: string | null;
  /** Version of the project. */
  readonly version: string;
  /** Seconds since 1970. */
  readonly epoch: number;
}

/** A usage error. */
export class UsageError extends Error {}

/** @returns null if the help text was requested */
export function readOptions(argv: readonly string[], sources: string): Options | null {
  const values = parse(argv);
  if (values.help) return null;
  const suite = values.suite ?? 'trixie';
  if (!SUITES.includes(suite))
    throw new UsageError(`--suite: there is no image of "${suite}"; ${SUITES.join(', ')}`);
  const given = values.compress ?? 'xz';
  const compression = COMPRESSIONS.find((one) => one === given);
  if (compression === undefined)
    throw new UsageError(`--compress: "${given}" must be one of ${COMPRESSIONS.join(', ')}`);
  if (values.root !== undefined && values.keyring !== undefined)
    throw new UsageError('--keyring: nothing is installed in the folder of --root; leave one of them out');
  const { version } = JSON.parse(readFileSync(join(sources, 'package.json'), 'utf8')) as { version: string };
  return {
    out: resolve(values.out ?? join(sources, 'images')),
    suite,
    debs: values.debs === undefined ? null : resolve(values.debs),
    hasScreen: values.screen ?? false,
    hasPrivateNode: values['private-node'] ?? false,
    keyring: values.keyring === undefined ? null : resolve(values.keyring),
    compression,
    isFresh: values.fresh ?? false,
    root: values.root === undefined ? null : resolve(values.root),
    version,
    epoch: lastChange(sources),
  };
}

function parse(argv: readonly string[]) {
  const text = { type: 'string' } as const;
  const flag = { type: 'boolean' } as const;
  try {
    return parseArgs({
      args: [...argv],
      options: {
        out: text,
        suite: text,
        debs: text,
        keyring: text,
        compress: text,
        root: text,
        screen: flag,
        'private-node': flag,
        fresh: flag,
        help: { ...flag, short: 'h' },
      },
    }).values;
  } catch (error) {
    throw new UsageError(error instanceof Error ? error.message : String(error));
  }
}

function lastChange(sources: string): number {
  const text = process.env['SOURCE_DATE_EPOCH'] ?? lastCommit(sources);
  if (text === null) throw new UsageError('there is no git here: set SOURCE_DATE_EPOCH, seconds since 1970');
  if (!/^\d{1,10}$/.test(text))
    throw new UsageError(`SOURCE_DATE_EPOCH: "${text}" is not a number of seconds`);
  return Number(text);
}

function lastCommit(sources: string): string | null {
  try {
    const words = ['-C', sources, 'log', '-1', '--format=%ct'];
    return execFileSync('git', words, { encoding: 'utf8', stdio: 'pipe' }).trim();
  } catch {
    return null;
  }
}
