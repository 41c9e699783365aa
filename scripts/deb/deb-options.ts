import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { ARCHITECTURES, type Architecture } from './node-runtime.ts';

export const USAGE = `Usage: scripts/build-deb [options]

Makes the Debian packages dragoman, dragoman-screen, dragoman-backend and dragoman-emulator for every architecture, and
dragoman-node, a private Node.js for one. The same commit and Node.js give the same bytes. Run "npm ci" first.

Options:
  --arch <arch>     arm64 or amd64, more than once for several; without it this machine's own
  --out <folder>    folder for the packages (default: debs)
  --bundles <dir>   take these bundles, made by scripts/build.mjs, instead of making them; their version must be that
                    of the packages, without its revision: see "scripts/build.mjs --version"
  --phrases <dir>   take these phrases, made by scripts/build-phrases, instead of making them (espeak-ng, sox)
  --version <text>  use this version instead of the one of package.json and git
  --no-node         leave dragoman-node out
  -h, --help        this text

The time in the packages is SOURCE_DATE_EPOCH or, without it, that of the last commit.
`;

export interface Options {
  readonly architectures: readonly Architecture[];
  readonly out: string;
  readonly bundles: string | null;
  readonly phrases: string | null;
  readonly version: string;
  /** Seconds since 1970. */
  readonly changedAt: number;
}

/** A usage error. */
export class UsageError extends Error {}

/** @returns null if the help text was requested */
export function readOptions(argv: readonly string[], root: string): Options | null {
  const { values } = parse(argv);
  if (values.help) return null;
  const asked = values.arch ?? [ownArchitecture()];
  const architectures = ARCHITECTURES.filter((one) => asked.includes(one));
  const unknown = asked.find((one) => !ARCHITECTURES.some((known) => known === one));
  if (unknown !== undefined && !values['no-node'])
    throw new UsageError(`--arch: there is no Node.js for "${unknown}" here; use arm64, amd64 or --no-node`);
  const changedAt = lastChange(root);
  const version = values.version ?? versionOf(root, changedAt);
  if (!/^\d[A-Za-z0-9.+~]*-[A-Za-z0-9.+~]+$/.test(version))
    throw new UsageError(`--version: "${version}" is not a version; use one like 1.2.3-1`);
  return {
    architectures: values['no-node'] ? [] : architectures,
    out: values.out ?? join(root, 'debs'),
    bundles: values.bundles ?? null,
    phrases: values.phrases ?? null,
    version,
    changedAt,
  };
}

function parse(argv: readonly string[]) {
  try {
    return parseArgs({
      args: [...argv],
      options: {
        arch: { type: 'string', multiple: true },
        out: { type: 'string' },
        bundles: { type: 'string' },
        phrases: { type: 'string' },
        version: { type: 'string' },
        'no-node': { type: 'boolean' },
        help: { type: 'boolean', short: 'h' },
      },
    });
  } catch (error) {
    throw new UsageError(error instanceof Error ? error.message : String(error));
  }
}

const ownArchitecture = (): string => (process.arch === 'x64' ? 'amd64' : process.arch);

function git(root: string, ...words: string[]): string | null {
  try {
    return execFileSync('git', ['-C', root, ...words], { encoding: 'utf8', stdio: 'pipe' }).trim();
  } catch {
    return null;
  }
}

function lastChange(root: string): number {
  const text = process.env['SOURCE_DATE_EPOCH'] ?? git(root, 'log', '-1', '--format=%ct');
  if (text === null) throw new UsageError('there is no git here: set SOURCE_DATE_EPOCH, seconds since 1970');
  if (!/^\d{1,11}$/.test(text))
    throw new UsageError(`SOURCE_DATE_EPOCH: "${text}" is not a number of seconds`);
  return Number(text);
}

/** The version of package.json; between releases the last commit is appended, so that each build upgrades the one before. */
function versionOf(root: string, changedAt: number): string {
  const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { version: string };
  const commit = git(root, 'rev-parse', '--short=8', 'HEAD');
  const isRelease = git(root, 'tag', '--points-at', 'HEAD')?.split('\n').includes(`v${version}`) ?? true;
  if (isRelease || commit === null) return `${version}-1`;
  const time = new Date(changedAt * 1000).toISOString().replaceAll(/\D/g, '').slice(0, 14);
  return `${version}+git${time}.${commit}-1`;
}
