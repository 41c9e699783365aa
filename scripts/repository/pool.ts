/** Decides which packages a repository has after a release. */
import { fileNameOf } from '../deb/control.ts';

/** A file in the pool. */
export interface PoolFile {
  readonly name: string;
  readonly version: string;
  readonly architecture: string;
  readonly sha256: string;
}

export interface PoolPlan {
  readonly add: readonly PoolFile[];
  readonly remove: readonly PoolFile[];
}

/** A release that the repository does not accept. */
export class ReleaseRefused extends Error {}

/** @param compare negative if the first version is older */
export function planPool(
  there: readonly PoolFile[],
  release: readonly PoolFile[],
  keep: number,
  compare: (a: string, b: string) => number,
): PoolPlan {
  const known = new Map(there.map((file) => [fileNameOf(file), file]));
  for (const file of release) {
    const other = known.get(fileNameOf(file));
    if (other !== undefined && other.sha256 !== file.sha256)
      throw new ReleaseRefused(
        `${file.name} ${file.version} (${file.architecture}) is already in the repository with other content: devices would refuse it. Raise the version`,
      );
  }
  const add = release.filter((file) => !known.has(fileNameOf(file)));
  const all = [...there, ...add];
  const kinds = new Set(all.map(kindOf));
  const remove = [...kinds].flatMap((kind) =>
    all
      .filter((file) => kindOf(file) === kind)
      .sort((a, b) => compare(b.version, a.version))
      .slice(keep),
  );
  const gone = add.find((file) => remove.includes(file));
  if (gone !== undefined)
    throw new ReleaseRefused(
      `${gone.name} ${gone.version} is older than the ${keep} versions that the repository keeps: raise --keep`,
    );
  return { add, remove };
}

const kindOf = ({ name, architecture }: PoolFile): string => `${name} ${architecture}`;
