import { createHash } from 'node:crypto';
import { copyFileSync, existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { writeTree } from '../deb/file-tree.ts';
import { bootFiles } from './boot-partition.ts';
import { debianRoot, makeDebian } from './debian-root.ts';
import { BOOT_BYTES, makeBoot, makeRoot } from './file-systems.ts';
import { type Identity, identityOf } from './identity.ts';
import type { Job } from './job.ts';
import type { Wanted } from './kept.ts';
import type { KeptSteps } from './kept-steps.ts';
import { imageIsMadeFrom } from './made-from.ts';
import { ownPackages } from './own-packages.ts';
import { MIB } from './partitions.ts';
import { initramfsScript, LOGIN, systemFiles } from './system.ts';

/** File systems, and the list of the packages in them. */
export interface Partitions {
  readonly folder: string;
  readonly identity: Identity;
}
export const [BOOT, ROOT, PACKAGES] = ['boot.img', 'root.img', 'packages'];
const ARCHIVE = 'root.tar';
const SYSTEM = 'system.tar';
/** Capabilities of programs are extended attributes. */
const AS_IT_IS = ['--xattrs', '--xattrs-include=*', '--numeric-owner'];

export async function partitionsOfDebian(job: Job, name: string, kept: KeptSteps): Promise<Partitions> {
  const { options, sources, draft, run } = job;
  const { suite, hasScreen, epoch } = options;
  const debs = await ownPackages(job, kept);
  const wanted = debianRoot(suite, hasScreen, sources);
  const debian = await kept.take(`Debian ${suite}`, wanted, async (folder) => {
    await makeDebian(run, wanted, epoch, draft, folder);
    return 'made';
  });
  const identity = identityOf([name, epoch, basename(debian.folder), debs.join()]);
  await makeSystemArchive(job, identity);
  const madeFrom: Wanted['madeFrom'] = [
    debian.digest,
    ...debs,
    epoch,
    ...Object.values(identity),
    createHash('sha256')
      .update(readFileSync(join(draft, SYSTEM)))
      .digest('hex'),
    ...imageIsMadeFrom(sources),
  ];
  const asked = { kind: `${wanted.kind}-partitions`, madeFrom };
  const step = 'Partitions';
  const inDraft = ['--directory', draft];
  const found = await kept.find(step, asked);
  if (found !== null) return { folder: found.folder, identity };
  const archive = await kept.take(
    'Root file system',
    { kind: `${wanted.kind}-root`, madeFrom },
    async (folder) => {
      await makeRootFolder(job, join(debian.folder, 'debian.tar'));
      const parts = ['root', 'boot', 'usr', PACKAGES].filter((part) => existsSync(join(draft, part)));
      await run.program('tar', [
        '--create',
        ...AS_IT_IS,
        '--file',
        join(folder, ARCHIVE),
        ...inDraft,
        ...parts,
      ]);
      return 'with Dragoman installed';
    },
  );
  const made = await kept.take(step, asked, async (folder) => {
    if (!existsSync(join(draft, 'root')))
      await run.program('tar', [
        '--extract',
        ...AS_IT_IS,
        '--file',
        join(archive.folder, ARCHIVE),
        ...inDraft,
      ]);
    return makePartitions(job, identity, folder);
  });
  return { folder: made.folder, identity };
}

/** @param root a Debian in a folder; nothing is installed in it, and no result is kept */
export async function partitionsOf(job: Job, name: string, root: string): Promise<Partitions> {
  const { options, draft, run, steps } = job;
  const { epoch } = options;
  const identity = identityOf([name, epoch]);
  const folder = join(draft, 'partitions');
  mkdirSync(folder);
  await steps.step('Root file system', async () => {
    await run.program('cp', ['-a', root, join(draft, 'root')]);
    await makeSystemArchive(job, identity);
    await makeRootFolder(job, null);
    return 'unchanged';
  });
  await steps.step('Partitions', () => makePartitions(job, identity, folder));
  return { folder, identity };
}

/** Puts the files of the image that belong to no package into an archive of the draft. */
async function makeSystemArchive(
  { options: { epoch }, sources, draft, run }: Job,
  { signature }: Identity,
): Promise<void> {
  const folder = join(draft, 'system');
  writeTree(folder, systemFiles(sources, signature, epoch), epoch);
  const reproducible = ['--sort=name', '--format=ustar', '--owner=root:0', '--group=root:0'];
  const words = ['--create', ...reproducible, '--file', join(draft, SYSTEM), '--directory', folder, '.'];
  await run.program('tar', words);
}

/** Makes `root` in the draft, and beside it the files for the boot partition. @param debian archive; null: `root` exists */
async function makeRootFolder({ options, sources, draft, run }: Job, debian: string | null): Promise<void> {
  const root = join(draft, 'root');
  const finish = join(sources, 'scripts/image/finish.sh');
  const env = { DRAFT: draft, LOGIN, TMPDIR: draft };
  if (debian === null) await run.program('sh', [finish, root], { env });
  else {
    const hooks = [
      '--setup-hook=tar --extract --file "$DEBIAN" --directory "$1"',
      `--customize-hook=${finish}`,
    ];
    const words = [
      '--variant=custom',
      '--architectures=arm64',
      '--format=directory',
      '--skip=setup,update,cleanup',
    ];
    await run.program('mmdebstrap', [...words, ...hooks, '', root], { env: { ...env, DEBIAN: debian } });
  }
  const time = `@${options.epoch}`;
  await run.program('find', [
    root,
    '-newermt',
    time,
    '-exec',
    'touch',
    '--no-dereference',
    `--date=${time}`,
    '{}',
    '+',
  ]);
}

async function makePartitions(
  { options, sources, draft, run, steps }: Job,
  identity: Identity,
  folder: string,
): Promise<string> {
  const { epoch } = options;
  const found = bootFiles(draft, identity.signature, [initramfsScript(sources)]);
  const files = join(draft, 'boot-files');
  mkdirSync(files);
  steps.tell('boot');
  await makeBoot(run, join(folder, BOOT), found, files, identity.signature, epoch);
  steps.tell('root');
  await makeRoot(run, join(folder, ROOT), join(draft, 'root'), identity, epoch);
  const list = join(draft, PACKAGES);
  if (existsSync(list)) copyFileSync(list, join(folder, PACKAGES));
  else writeFileSync(join(folder, PACKAGES), '');
  const bytes = found.reduce((sum, { content }) => sum + content.length, 0);
  return `boot ${inMib(bytes)} of ${inMib(BOOT_BYTES)} MB, root ${inMib(statSync(join(folder, ROOT)).size)} MB`;
}

export const inMib = (bytes: number): number => Math.round(bytes / MIB);
