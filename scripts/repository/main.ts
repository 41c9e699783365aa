import { spawnSync } from 'node:child_process';
import { copyFileSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileNameOf, writePackage } from '../deb/control.ts';
import { readOptions as readBuildOptions, UsageError } from '../deb/deb-options.ts';
import { makePackages } from '../deb/main.ts';
import { runTool } from '../deb/tools.ts';
import { POOL, place, SUITE, sha256, writeIndex } from './index.ts';
import { keyringPackage } from './keyring-package.ts';
import { type PoolFile, planPool } from './pool.ts';
import { type ReleaseOptions, readReleaseOptions, USAGE } from './release-options.ts';

/** @returns the exit code */
export async function runRelease(argv: readonly string[], root: string): Promise<number> {
  try {
    const options = readReleaseOptions(argv);
    if (options === null) process.stdout.write(USAGE);
    else await publish(options, root);
    return 0;
  } catch (error) {
    process.stderr.write(`release: ${error instanceof Error ? error.message : String(error)}\n`);
    return error instanceof UsageError ? 2 : 1;
  }
}

async function publish(options: ReleaseOptions, root: string): Promise<void> {
  const { repository, keep } = options;
  // Check the tools before making the packages, which takes minutes.
  for (const tool of ['apt-ftparchive', 'xz', 'dpkg-deb'] as const) runTool(tool, ['--version']);
  const drafts = mkdtempSync(join(tmpdir(), 'dragoman-release-'));
  try {
    await collectPackages(options, root, drafts);
    const pool = join(repository, POOL);
    const release = readPool(drafts);
    if (release.length === 0) throw new UsageError('there is no package to publish');
    const { add, remove } = planPool(existsSync(pool) ? readPool(pool) : [], release, keep, compareVersions);
    for (const file of add) place(join(pool, fileNameOf(file)), readFileSync(join(drafts, fileNameOf(file))));
    for (const file of remove) rmSync(join(pool, fileNameOf(file)));
    const checksum = writeIndex(repository);
    for (const file of add) process.stdout.write(`added      ${fileNameOf(file)}\n`);
    for (const file of remove) process.stdout.write(`removed    ${fileNameOf(file)}\n`);
    process.stdout.write(`to sign    ${join(repository, SUITE, 'Release')}\nof Release ${checksum}\n`);
  } finally {
    rmSync(drafts, { recursive: true });
  }
}

/** Brings the packages of a release together in a folder. */
async function collectPackages(
  { debs, keyring, building }: ReleaseOptions,
  root: string,
  folder: string,
): Promise<void> {
  const build = readBuildOptions([...building, '--out', folder], root);
  if (build === null) return;
  // Make the keyring package first, because its keys may be unusable.
  if (keyring !== null) {
    const one = keyringPackage({ root, version: build.version, changedAt: build.changedAt }, keyring);
    writePackage(one, root, join(folder, fileNameOf(one)));
  }
  if (debs === null) await makePackages(build, root, () => {});
  else for (const file of readPool(debs)) copyFileSync(file.path, join(folder, fileNameOf(file)));
}

/** The packages of a folder. */
function readPool(folder: string): (PoolFile & { readonly path: string })[] {
  const files = readdirSync(folder).filter((name) => name.endsWith('.deb'));
  return files.sort().map((file) => {
    const path = join(folder, file);
    const control = runTool('dpkg-deb', ['--field', path]).toString();
    const field = (name: string): string => new RegExp(`^${name}: (.*)$`, 'm').exec(control)?.[1] ?? '';
    const [name, version, architecture] = [field('Package'), field('Version'), field('Architecture')];
    return { path, name, version, architecture, sha256: sha256(readFileSync(path)) };
  });
}

/** Compares versions as dpkg does. */
function compareVersions(a: string, b: string): number {
  const is = (relation: string): boolean =>
    spawnSync('dpkg', ['--compare-versions', a, relation, b]).status === 0;
  return is('lt') ? -1 : is('gt') ? 1 : 0;
}
