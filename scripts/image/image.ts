import { createHash } from 'node:crypto';
import {
  createReadStream,
  existsSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { basename, join } from 'node:path';
import { tar } from '../deb/archive.ts';
import type { Steps } from '../steps.ts';
import { bootFiles } from './boot-partition.ts';
import { writeCard } from './card.ts';
import type { Run } from './child-programs.ts';
import { debianRoot } from './debian-root.ts';
import { BOOT_BYTES, DATA_BYTES, makeBoot, makeData, makeRoot } from './file-systems.ts';
import { type Identity, identityOf } from './identity.ts';
import type { Compression, Options } from './image-options.ts';
import { layOut, MIB } from './partitions.ts';
import { initramfsScript, LOGIN, systemFiles } from './system.ts';

export interface Job {
  readonly options: Options;
  /** The folder of the repository. */
  readonly sources: string;
  /** An empty folder for temporary files. */
  readonly draft: string;
  readonly run: Run;
  readonly steps: Steps;
}

export async function makeImage(job: Job): Promise<void> {
  const { options, sources, draft, run, steps } = job;
  const { suite, isFresh, hasScreen, epoch } = options;
  let [debs, debian] = ['', ''];
  if (options.root === null) {
    await steps.step('Packages of Dragoman', async () => {
      debs = await ownPackages(job);
      return basename(debs.split(' ')[0] ?? '');
    });
    await steps.step(`Debian ${suite}, arm64`, async () => {
      const made = await debianRoot(run, { suite, isFresh, hasScreen, epoch, sources, draft });
      debian = made.file;
      return made.keptFrom === null
        ? 'made'
        : `kept from ${made.keptFrom.toISOString().slice(0, 10)} (--fresh: again)`;
    });
  }
  const name = `dragoman-${options.version}-${suite}${hasScreen ? '-screen' : ''}-arm64`;
  const identity = identityOf([
    name,
    epoch,
    basename(debian),
    debs === '' ? '' : debs.split(' ').map(digestOf).join(),
  ]);
  const root = join(draft, 'root');
  await steps.step('Root file system', async () => {
    writeFileSync(join(draft, 'system.tar'), tar(systemFiles(sources, identity.signature, epoch), epoch));
    await finishRoot(job, { root, debian, debs });
    const newer = [
      '-newermt',
      `@${epoch}`,
      '-exec',
      'touch',
      '--no-dereference',
      `--date=@${epoch}`,
      '{}',
      '+',
    ];
    await run.program('find', [root, ...newer]);
    return debs === '' ? 'unchanged' : 'with Dragoman installed';
  });
  const image = await makeCard(job, name, root, identity);
  await pack(job, image);
}

/** Paths of the packages for the device, separated by spaces. */
async function ownPackages({ options, sources, draft, run }: Job): Promise<string> {
  const folder = options.debs ?? join(draft, 'debs');
  if (options.debs === null) {
    const node = options.hasPrivateNode ? [] : ['--no-node'];
    await run.program(
      process.execPath,
      [join(sources, 'scripts/build-deb.mjs'), '--arch', 'arm64', '--out', folder, ...node],
      {
        env: { SOURCE_DATE_EPOCH: String(options.epoch) },
      },
    );
  }
  const wanted = [
    /^dragoman_.*\.deb$/,
    ...(options.hasScreen ? [/^dragoman-screen_.*\.deb$/] : []),
    ...(options.hasPrivateNode ? [/^dragoman-node_.*_arm64\.deb$/] : []),
  ];
  const found = wanted.map((pattern) => {
    const [one, ...more] = readdirSync(folder).filter((file) => pattern.test(file));
    if (one === undefined || more.length > 0)
      throw new Error(`there must be one file like ${pattern.source.slice(1, -1)} in ${folder}`);
    return join(folder, one);
  });
  return found.join(' ');
}

interface RootParts {
  readonly root: string;
  readonly debian: string;
  readonly debs: string;
}

async function finishRoot(
  { options, sources, draft, run }: Job,
  { root, debian, debs }: RootParts,
): Promise<void> {
  const finish = join(sources, 'scripts/image/finish.sh');
  const env = { DRAFT: draft, DEBS: debs, LOGIN, TMPDIR: draft };
  if (options.root !== null) {
    await run.program('cp', ['-a', options.root, root]);
    await run.program('sh', [finish, root], { env });
    return;
  }
  const words = [
    '--variant=custom',
    '--architectures=arm64',
    '--format=directory',
    '--skip=setup,update,cleanup',
  ];
  const hooks = [
    `--setup-hook=tar --extract --file '${debian}' --directory "$1"`,
    `--customize-hook=${finish}`,
  ];
  await run.program('mmdebstrap', [...words, ...hooks, '', root], { env });
}

async function makeCard(
  { options, sources, draft, run, steps }: Job,
  name: string,
  root: string,
  identity: Identity,
) {
  const { epoch } = options;
  const { signature } = identity;
  const files = {
    boot: join(draft, 'boot.img'),
    root: join(draft, 'root.img'),
    data: join(draft, 'data.img'),
  };
  await steps.step('Boot partition', async () => {
    const found = bootFiles(draft, signature, [initramfsScript(sources)]);
    await makeBoot(run, files.boot, found, signature, epoch);
    return `${inMib(found.reduce((sum, { content }) => sum + content.length, 0))} MB of ${inMib(BOOT_BYTES)}`;
  });
  let rootBytes = 0;
  await steps.step('Root partition', async () => {
    rootBytes = await makeRoot(run, files.root, root, identity, epoch);
    return `${inMib(rootBytes)} MB`;
  });
  const image = join(draft, `${name}.img`);
  await steps.step('Image', async () => {
    await makeData(run, files.data, identity, epoch);
    const partitions = layOut({ boot: BOOT_BYTES, root: rootBytes, data: DATA_BYTES });
    writeCard(image, partitions, signature, files);
    for (const file of Object.values(files)) rmSync(file);
    return `${inMib(statSync(image).size)} MB, partitions ${signature}`;
  });
  return image;
}

const inMib = (bytes: number): number => Math.round(bytes / MIB);

const COMPRESSORS: Readonly<Record<Exclude<Compression, 'none'>, readonly [string, string, ...string[]]>> = {
  xz: ['xz', '.xz', '-T0', '-6'],
  zstd: ['zstd', '.zst', '-q', '-T0', '-12', '--long=27'],
};

/** Compresses the image, and moves it to its folder together with its checksum and its list of packages. */
async function pack({ options, draft, run, steps }: Job, image: string): Promise<void> {
  const { compression, out } = options;
  let packed = image;
  if (compression !== 'none')
    await steps.step(`Compressed by ${compression}`, async () => {
      const [program, ending, ...words] = COMPRESSORS[compression];
      await run.program(program, [
        ...words,
        ...(compression === 'zstd' ? ['-o', `${image}${ending}`] : ['-k']),
        image,
      ]);
      packed = `${image}${ending}`;
      return `${(statSync(packed).size / 1e6).toFixed(0)} MB`;
    });
  await steps.step('Checksum', async () => {
    const name = basename(packed);
    const digest = await sha256(packed);
    writeFileSync(`${packed}.sha256`, `${digest}  ${name}\n`);
    const packages = join(draft, 'packages');
    const list = basename(image).replace(/img$/, 'packages');
    writeFileSync(join(out, list), existsSync(packages) ? readFileSync(packages) : '');
    for (const file of [packed, `${packed}.sha256`]) await run.program('mv', [file, out]);
    return digest.slice(0, 32);
  });
  process.stdout.write(`${join(out, basename(packed))}\n`);
}

async function sha256(file: string): Promise<string> {
  const hash = createHash('sha256');
  for await (const part of createReadStream(file)) hash.update(part as Buffer);
  return hash.digest('hex');
}

const digestOf = (file: string): string => createHash('sha256').update(readFileSync(file)).digest('hex');
