import { readdirSync, statSync, truncateSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { BootFile } from './boot-partition.ts';
import type { Run } from './child-programs.ts';
import type { Identity } from './identity.ts';
import { setInodeTimes } from './inode-times.ts';
import { alignUp, MIB } from './partitions.ts';

const BLOCK = 4096;
export const BOOT_BYTES = 256 * MIB;
/** Size of the data partition until it grows at the first start (bytes); has room for a second copy of the superblock. */
export const DATA_BYTES = 256 * MIB;
/** Spare room for tables, folders and rounding, in a read-only root. */
const SPARE_SHARE = 0.05;
const SPARE_BYTES = 16 * MIB;
const SPARE_INODES = 512;
const SECTORS_PER_MIB = 2048;

/** Makes a FAT file system that every computer can read. @param folder an empty one for its files */
export async function makeBoot(
  run: Run,
  file: string,
  files: readonly BootFile[],
  folder: string,
  signature: string,
  epoch: number,
) {
  for (const { name, content } of files) {
    writeFileSync(join(folder, name), content);
    utimesSync(join(folder, name), epoch, epoch);
  }
  writeFileSync(file, '');
  truncateSync(file, BOOT_BYTES);
  const env = { SOURCE_DATE_EPOCH: String(epoch), TZ: 'UTC', MTOOLS_SKIP_CHECK: '1' };
  const sectors = String((BOOT_BYTES / MIB) * SECTORS_PER_MIB);
  await run.program(
    'mformat',
    ['-i', file, '-F', '-T', sectors, '-h', '64', '-s', '32', '-v', 'DRAGOMAN', '-N', signature, '::'],
    { env },
  );
  await run.program('mcopy', ['-i', file, '-m', ...files.map(({ name }) => join(folder, name)), '::'], {
    env,
  });
}

export async function makeRoot(
  run: Run,
  file: string,
  root: string,
  identity: Identity,
  epoch: number,
): Promise<void> {
  const { bytes, inodes } = measure(root);
  const size = alignUp(bytes * (1 + SPARE_SHARE) + inodes * 256 + SPARE_BYTES);
  // The root is read-only, so it needs no journal.
  const words = [
    '-O',
    '^has_journal',
    '-N',
    String(inodes + SPARE_INODES),
    '-L',
    'dragoman-root',
    '-d',
    root,
  ];
  await makeExt4(run, file, size, [...words, ...named(identity.rootUuid)], epoch);
  setInodeTimes(file, epoch);
}

export async function makeData(run: Run, file: string, identity: Identity, epoch: number): Promise<void> {
  const words = [
    '-L',
    'dragoman-data',
    ...named(identity.dataUuid, ',lazy_itable_init=1,lazy_journal_init=1'),
  ];
  await makeExt4(run, file, DATA_BYTES, words, epoch);
}

const named = (uuid: string, more = '') => ['-U', uuid, '-E', `hash_seed=${uuid}${more}`];

async function makeExt4(
  run: Run,
  file: string,
  size: number,
  words: readonly string[],
  epoch: number,
): Promise<void> {
  const env = { E2FSPROGS_FAKE_TIME: String(epoch), SOURCE_DATE_EPOCH: String(epoch) };
  const kind = ['-q', '-F', '-t', 'ext4', '-b', String(BLOCK), '-m', '0'];
  await run.program('mke2fs', [...kind, ...words, file, String(size / BLOCK)], { env });
}

/** Space that the files of a folder need in an ext4 file system. */
function measure(root: string): { bytes: number; inodes: number } {
  let [bytes, inodes] = [0, 0];
  const seen = new Set<number>();
  const folders = [root];
  for (let folder = folders.pop(); folder !== undefined; folder = folders.pop()) {
    bytes += BLOCK;
    for (const entry of readdirSync(folder, { withFileTypes: true })) {
      const path = join(folder, entry.name);
      inodes += 1;
      if (entry.isDirectory()) folders.push(path);
      if (!entry.isFile()) continue;
      const { ino, size, nlink } = statSync(path);
      if (nlink > 1 && seen.has(ino)) continue;
      seen.add(ino);
      bytes += Math.ceil(size / BLOCK) * BLOCK;
    }
  }
  return { bytes, inodes };
}
