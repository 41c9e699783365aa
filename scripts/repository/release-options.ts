import { parseArgs } from 'node:util';
import { UsageError } from '../deb/deb-options.ts';
import { ARCHITECTURES } from '../deb/node-runtime.ts';

export const USAGE = `Usage: scripts/release build [options]

Makes the packages for all architectures and adds them to a repository for apt.
Older versions stay in it. The same input and SOURCE_DATE_EPOCH give the same
bytes. Nothing is published if a version exists with other bytes. Devices see
the new versions after "scripts/release sign". Run "npm ci" first.

Options:
  --repository <dir>  folder of the repository (default: repository)
  --keep <n>          keep the n newest versions of each package (default: 5)
  --debs <dir>        take the packages of this folder instead of making them
  --keys <file>       public keys, as "gpg --export" writes them: makes the
                      package dragoman-archive-keyring; twice, with the old and
                      the new key, during a change of keys
  --url <address>     with --keys: where devices find the repository (https:,
                      http:, file: or copy:)
  --arch <arch>       arm64 or amd64, more than once for several; without it all
  --bundles <dir>, --phrases <dir>, --version <text>
                      as for scripts/build-deb
  -h, --help          this text
`;

export interface ReleaseOptions {
  readonly repository: string;
  readonly keep: number;
  /** Folder of packages; null: makes them. */
  readonly debs: string | null;
  readonly keyring: KeyringOptions | null;
  /** Options for `scripts/build-deb`. */
  readonly building: readonly string[];
}

export interface KeyringOptions {
  readonly files: readonly string[];
  readonly url: string;
}

const BUILDING = ['bundles', 'phrases', 'version'] as const;
const SCHEMES = ['https:', 'http:', 'file:', 'copy:'];

/** @returns null if the help text was requested */
export function readReleaseOptions(argv: readonly string[]): ReleaseOptions | null {
  const { values, positionals } = parse(argv);
  if (values.help) return null;
  if (positionals[0] !== undefined)
    throw new UsageError(`build takes only options, not "${positionals[0]}"; see --help`);
  const keep = values.keep ?? '5';
  if (!/^[1-9]\d{0,3}$/.test(keep))
    throw new UsageError(`--keep: "${keep}" is not a number of versions; use one like 5`);
  if (values.debs !== undefined && (values.arch ?? values.bundles ?? values.phrases) !== undefined)
    throw new UsageError('--debs takes finished packages: leave out --arch, --bundles and --phrases');
  return {
    repository: values.repository ?? 'repository',
    keep: Number(keep),
    debs: values.debs ?? null,
    keyring: keyringOf(values.keys ?? [], values.url),
    building: [
      ...(values.arch ?? ARCHITECTURES).flatMap((arch) => ['--arch', arch]),
      ...BUILDING.flatMap((name) => {
        const value = values[name];
        return value === undefined ? [] : [`--${name}`, value];
      }),
    ],
  };
}

function parse(argv: readonly string[]) {
  try {
    return parseArgs({
      args: [...argv],
      allowPositionals: true,
      options: {
        repository: { type: 'string' },
        keep: { type: 'string' },
        debs: { type: 'string' },
        keys: { type: 'string', multiple: true },
        url: { type: 'string' },
        arch: { type: 'string', multiple: true },
        bundles: { type: 'string' },
        phrases: { type: 'string' },
        version: { type: 'string' },
        help: { type: 'boolean', short: 'h' },
      },
    });
  } catch (error) {
    throw new UsageError(error instanceof Error ? error.message : String(error));
  }
}

function keyringOf(files: readonly string[], url: string | undefined): KeyringOptions | null {
  if (files.length === 0 && url === undefined) return null;
  if (files.length === 0) throw new UsageError('--url belongs to --keys: give the public keys, too');
  if (url === undefined)
    throw new UsageError('--keys needs --url, the address at which devices find the repository');
  // apt reads options in brackets and several addresses at blanks.
  if (/[\s[\]]/.test(url) || !URL.canParse(url) || !SCHEMES.includes(new URL(url).protocol))
    throw new UsageError(
      `--url: "${url}" is not an address for apt; use one like https://updates.example/dragoman`,
    );
  if (new URL(url).username !== '' || new URL(url).password !== '')
    throw new UsageError('--url: everybody can read the package: leave out user name and password');
  return { files, url };
}
