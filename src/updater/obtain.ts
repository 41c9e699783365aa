import { packageVersion, plainVersion } from '../core/update/package-versions.ts';
import type { Clock } from '../ports/clock.ts';
import { type Offer, type Repository, type UpdateFiles, UpdateTrouble } from '../ports/update.ts';
import type { Release, VersionOrder } from '../protocol/common/update.ts';
import { nodeFolder, type VersionFolders } from './version-folders.ts';

const AGENT = 'dragoman';
const NODE = 'dragoman-node';
/** Free space that an update needs, as a multiple of the unpacked packages: archive, folder, and a reserve. */
const SPACE_FACTOR = 3;

/** The Node.js programs of this machine. */
export interface NodePrograms {
  /** Version of the installed package dragoman-node; null: not installed. */
  readonly private: string | null;
  /** Version of the system's own Node.js; null: there is none. */
  readonly system: string | null;
}

export interface ObtainDeps {
  readonly files: UpdateFiles;
  readonly repository: Repository;
  readonly folders: VersionFolders;
  readonly nodes: NodePrograms;
  readonly clock: Clock;
  /** The installed package. */
  readonly own: Release;
  /** Reports the present step. */
  step(state: 'downloading' | 'verifying', progress: number): Promise<void>;
}

/** Downloads an ordered version into its folder, unless the folder exists. @throws UpdateTrouble */
export async function obtain({ version, manifest_url }: VersionOrder, deps: ObtainDeps): Promise<void> {
  const { files, repository, folders, nodes, clock, own } = deps;
  const wanted = packageVersion(version);
  const there = await folders.find(wanted);
  if (there !== null && (await hasItsNode(there, deps))) return;
  await deps.step('downloading', 0);
  if ((clock.wall() ?? 0) < own.built_at * 1000)
    throw new UpdateTrouble(
      'the clock of this device is not set, so it cannot tell whether the repository is up to date; connect it to a time server',
      true,
    );
  await repository.refresh(manifest_url);
  const offer = await repository.find(AGENT, wanted);
  if (offer === null)
    throw new UpdateTrouble(
      `the repository has no version ${plainVersion(wanted)} of ${AGENT}; check the number`,
    );
  await insistOnSpace(files, offer);
  const folder = await folders.begin(wanted);
  try {
    await repository.fetch(offer, folder, () => deps.step('verifying', 0.5));
    const release = await folders.inspect(wanted);
    if (release === null)
      throw new UpdateTrouble(
        `version ${plainVersion(wanted)} is incomplete: its files differ from its list`,
      );
    const needed = neededNode(release, nodes);
    if (needed !== null) {
      if (!(await folders.hasNode(needed))) await obtainNode(needed, deps);
      await files.link(`../${nodeFolder(needed)}`, `${folder}/node`);
    }
    await folders.finish(wanted);
  } catch (error) {
    await folders.giveUp(wanted);
    throw error;
  }
}

async function obtainNode(version: string, { files, repository, folders, step }: ObtainDeps): Promise<void> {
  await step('downloading', 0.5);
  const offer = await repository.find(NODE, version);
  if (offer === null)
    throw new UpdateTrouble(
      `the repository has no version ${plainVersion(version)} of ${NODE}, which the update needs`,
    );
  await insistOnSpace(files, offer);
  const name = nodeFolder(version);
  try {
    await repository.fetch(offer, await folders.begin(name), () => step('verifying', 0.9));
    await folders.finish(name);
  } catch (error) {
    await folders.giveUp(name);
    throw error;
  }
}

async function hasItsNode(release: Release, { folders, nodes }: ObtainDeps): Promise<boolean> {
  const needed = neededNode(release, nodes);
  return needed === null || (await folders.hasNode(needed));
}

/**
 * The version of dragoman-node that a release needs beside it; null: none. A device with a private Node.js keeps a private
 * one; on other devices the system's Node.js suffices if it is new enough.
 */
export function neededNode({ node }: Release, nodes: NodePrograms): string | null {
  if (nodes.private !== null) return nodes.private === node.private ? null : node.private;
  const isEnough = nodes.system !== null && isAtLeast(nodes.system, node.least);
  return isEnough ? null : node.private;
}

function isAtLeast(version: string, least: string): boolean {
  const [a, b] = [version, least].map((text) => text.split('.').map(Number));
  for (const [at, wanted] of (b ?? []).entries()) {
    const has = a?.[at] ?? 0;
    if (has !== wanted) return has > wanted;
  }
  return true;
}

async function insistOnSpace(files: UpdateFiles, { name, version, unpackedBytes }: Offer): Promise<void> {
  const [needed, free] = [SPACE_FACTOR * unpackedBytes, await files.free()];
  if (free >= needed) return;
  throw new UpdateTrouble(
    `the disk is too full: ${name} ${plainVersion(version)} needs ${inMegabytes(needed)} MB, and ${inMegabytes(free)} MB are free`,
  );
}

const inMegabytes = (bytes: number): string => (bytes / 1_000_000).toFixed(1);
