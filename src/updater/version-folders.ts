import { compareVersions } from '../core/update/package-versions.ts';
import type { Releases, UpdateFiles } from '../ports/update.ts';
import { type Release, versionSchema } from '../protocol/common/update.ts';

const LINK = 'current';
const DRAFT = 'current.draft';
const ROOT = 'versions';
const PARTIAL = '.partial';
const NODE = 'node-';

/** The unpacked versions, and the link to the version in use. The installed package is always there, too. */
export interface VersionFolders {
  /** The version of the installed package. */
  readonly installed: string;
  /** The version that the agent's next start uses: the same choice as the launcher's. */
  current(): Promise<string>;
  /** A complete version, unpacked or installed; null: it is missing or damaged. */
  find(version: string): Promise<Release | null>;
  /** Makes the next start use this version. */
  choose(version: string): Promise<void>;
  /** Makes an empty folder to unpack into. */
  begin(name: string): Promise<string>;
  /** The release in the folder of `begin`; null: it is incomplete. */
  inspect(name: string): Promise<Release | null>;
  /** Removes the folder of `begin`. */
  giveUp(name: string): Promise<void>;
  /** Gives the complete folder of `begin` its final name. */
  finish(name: string): Promise<void>;
  hasNode(version: string): Promise<boolean>;
  /** Removes unfinished folders and all versions except the linked one and these. */
  tidy(keep: readonly (string | null)[]): Promise<void>;
}

export const nodeFolder = (version: string): string => `${NODE}${version}`;

export function createVersionFolders(files: UpdateFiles, releases: Releases, own: Release): VersionFolders {
  const { version: installed } = own;
  const pathOf = (name: string): string => `${ROOT}/${name}`;
  const linked = async (): Promise<string | null> => {
    const target = (await files.readLink(LINK)) ?? '';
    const version = target.startsWith(`${ROOT}/`) ? target.slice(ROOT.length + 1) : '';
    return versionSchema.safeParse(version).success ? version : null;
  };
  const find = async (version: string): Promise<Release | null> => {
    if (version === installed) return own;
    const release = await releases.read(pathOf(version));
    return release?.version === version ? release : null;
  };
  return {
    installed,
    find,
    async current() {
      const version = await linked();
      if (version === null || compareVersions(version, installed) <= 0) return installed;
      return (await find(version)) === null ? installed : version;
    },
    async choose(version) {
      if (version === installed) {
        await files.remove(LINK);
      } else {
        await files.remove(DRAFT);
        await files.link(pathOf(version), DRAFT);
        await files.rename(DRAFT, LINK);
      }
      await files.sync('');
    },
    async begin(name) {
      const folder = pathOf(`${name}${PARTIAL}`);
      await files.makeFolder(ROOT);
      await files.remove(folder);
      await files.makeFolder(folder);
      return folder;
    },
    async inspect(version) {
      const release = await releases.read(pathOf(`${version}${PARTIAL}`));
      return release?.version === version ? release : null;
    },
    giveUp: (name) => files.remove(pathOf(`${name}${PARTIAL}`)),
    async finish(name) {
      await files.syncAll(pathOf(`${name}${PARTIAL}`));
      // Removes a damaged folder of an earlier download.
      await files.remove(pathOf(name));
      await files.rename(pathOf(`${name}${PARTIAL}`), pathOf(name));
      await files.sync(ROOT);
      await files.sync('');
    },
    hasNode: async (version) => (await files.list(ROOT)).includes(nodeFolder(version)),
    async tidy(keep) {
      const versions = new Set([await linked(), ...keep]);
      const nodes = new Set<string>();
      for (const version of versions) {
        const release =
          version === null || version === installed ? null : await releases.read(pathOf(version));
        if (release !== null) nodes.add(nodeFolder(release.node.private));
      }
      for (const name of await files.list(ROOT))
        if (!versions.has(name) && !nodes.has(name)) await files.remove(pathOf(name));
      await files.remove(DRAFT);
    },
  };
}
