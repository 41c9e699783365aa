import { copyFileSync, statSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { writeCard } from './card.ts';
import { BOOT_BYTES, DATA_BYTES, makeData } from './file-systems.ts';
import type { Compression } from './image-options.ts';
import type { Job } from './job.ts';
import { sha256 } from './kept.ts';
import { keptSteps } from './kept-steps.ts';
import {
  BOOT,
  inMib,
  PACKAGES,
  type Partitions,
  partitionsOf,
  partitionsOfDebian,
  ROOT,
} from './made-partitions.ts';
import { layOut } from './partitions.ts';

export async function makeImage(job: Job): Promise<void> {
  const { options, steps } = job;
  const { suite, hasScreen, root, keyring, isFresh } = options;
  const name = `dragoman-${options.version}-${suite}${hasScreen ? '-screen' : ''}-arm64`;
  const kept = keptSteps(steps, isFresh);
  const partitions = await (root === null
    ? partitionsOfDebian(job, name, kept)
    : partitionsOf(job, name, root));
  const image = await makeCard(job, name, partitions);
  const packed = await pack(job, image, join(partitions.folder, PACKAGES));
  const notes = [
    ...(kept.taken.length === 0
      ? []
      : [`Kept from earlier runs: ${kept.taken.join(', ')}\n(--fresh makes all again)\n`]),
    ...(root !== null || keyring !== null
      ? []
      : ['Without --keyring, this kiosk cannot check updates: docs/updates.md\n']),
  ];
  process.stdout.write(`${notes.join('')}${packed}\n`);
}

async function makeCard(
  { options, draft, run, steps }: Job,
  name: string,
  { folder, identity }: Partitions,
): Promise<string> {
  const { signature } = identity;
  const files = { boot: join(folder, BOOT), root: join(folder, ROOT), data: join(draft, 'data.img') };
  const image = join(draft, `${name}.img`);
  await steps.step('Image', async () => {
    await makeData(run, files.data, identity, options.epoch);
    const partitions = layOut({ boot: BOOT_BYTES, root: statSync(files.root).size, data: DATA_BYTES });
    writeCard(image, partitions, signature, files);
    return `${inMib(statSync(image).size)} MB, partitions ${signature}`;
  });
  return image;
}

const COMPRESSORS: Readonly<Record<Exclude<Compression, 'none'>, readonly [string, string, ...string[]]>> = {
  xz: ['xz', '.xz', '-T0', '-6'],
  zstd: ['zstd', '.zst', '-q', '-T0', '-12', '--long=27'],
};

/** Compresses the image, and moves it to its folder together with its checksum and its list of packages. */
async function pack({ options, run, steps }: Job, image: string, packages: string): Promise<string> {
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
    copyFileSync(packages, join(out, basename(image).replace(/img$/, 'packages')));
    for (const file of [packed, `${packed}.sha256`]) await run.program('mv', [file, out]);
    return digest.slice(0, 32);
  });
  return join(out, basename(packed));
}
