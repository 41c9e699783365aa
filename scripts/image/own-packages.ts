import { copyFileSync, mkdirSync, readdirSync } from 'node:fs';
import { basename, join } from 'node:path';
import { type Options, UsageError } from './image-options.ts';
import type { Job } from './job.ts';
import { sha256 } from './kept.ts';
import type { KeptSteps } from './kept-steps.ts';
import { packagesAreMadeFrom } from './made-from.ts';

const KEYRING = 'dragoman-archive-keyring';

/** Puts the packages for the device into `debs` of the draft. @returns their checksums */
export async function ownPackages(job: Job, kept: KeptSteps): Promise<string[]> {
  const { options, draft } = job;
  await insistOnKeyring(job);
  const folder = options.debs ?? (await buildPackages(job, kept));
  const files = [
    ...wantedPackages(options).map((pattern) => join(folder, onlyOne(folder, pattern))),
    ...(options.keyring === null ? [] : [options.keyring]),
  ];
  const debs = join(draft, 'debs');
  mkdirSync(debs);
  for (const file of files) copyFileSync(file, join(debs, basename(file)));
  return Promise.all(files.map(sha256));
}

/** Checks this first, before the steps that take minutes. */
async function insistOnKeyring({ options: { keyring }, run }: Job): Promise<void> {
  if (keyring === null) return;
  const name = await run.program('dpkg-deb', ['--field', keyring, 'Package']).catch(() => '');
  if (name.trim() !== KEYRING)
    throw new UsageError(
      `--keyring: ${keyring} is not the package ${KEYRING}; "scripts/release build --keys" makes it (docs/releasing.md)`,
    );
}

async function buildPackages({ options, sources, draft, run, steps }: Job, kept: KeptSteps): Promise<string> {
  const { hasPrivateNode, epoch } = options;
  const make = async (folder: string): Promise<string> => {
    const node = hasPrivateNode ? [] : ['--no-node'];
    await run.program(
      process.execPath,
      [join(sources, 'scripts/build-deb.mjs'), '--arch', 'arm64', '--out', folder, ...node],
      { env: { SOURCE_DATE_EPOCH: String(epoch), TMPDIR: draft } },
    );
    return onlyOne(folder, AGENT);
  };
  const name = 'Packages of Dragoman';
  const madeFrom = packagesAreMadeFrom(sources, epoch);
  if (madeFrom === null) {
    const folder = join(draft, 'made-debs');
    await steps.step(name, () => make(folder));
    return folder;
  }
  const kind = hasPrivateNode ? 'image-packages-node' : 'image-packages';
  return (await kept.take(name, { kind, madeFrom }, make)).folder;
}

const AGENT = /^dragoman_.*\.deb$/;

const wantedPackages = ({ hasScreen, hasPrivateNode }: Options): RegExp[] => [
  AGENT,
  ...(hasScreen ? [/^dragoman-screen_.*\.deb$/] : []),
  ...(hasPrivateNode ? [/^dragoman-node_.*_arm64\.deb$/] : []),
];

function onlyOne(folder: string, pattern: RegExp): string {
  const [one, ...more] = readdirSync(folder).filter((file) => pattern.test(file));
  if (one === undefined || more.length > 0)
    throw new Error(`there must be one file like ${pattern.source.slice(1, -1)} in ${folder}`);
  return one;
}
