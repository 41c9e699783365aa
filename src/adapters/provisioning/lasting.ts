/** Whether what is written below /etc outlives a reboot: secrets must not be taken out of the file for a memory that forgets. */
import { readFileSync, statfsSync } from 'node:fs';

const PLACE = '/etc/dragoman';
const IMAGE = '/run/dragoman-image';
/** statfs(2) */
const IN_MEMORY: readonly number[] = [0x01021994, 0x858458f6];
const MEMORY_TYPES: readonly string[] = ['tmpfs', 'ramfs'];

/** The kind of a file system; null where there is no such folder. */
export type KindOf = (folder: string) => number | null;

/** @param mounts as /proc/self/mountinfo has them */
export function isLasting(mounts: string, kindOf: KindOf): boolean {
  const holding = mounts
    .split('\n')
    .map(readMount)
    .filter((mount) => mount !== null)
    .filter(({ at }) => at === '/' || PLACE === at || PLACE.startsWith(`${at}/`))
    // The last one of the longest hides the others.
    .reduce<Mount | null>(
      (best, one) => (best === null || one.at.length >= best.at.length ? one : best),
      null,
    );
  if (holding === null) return true;
  if (MEMORY_TYPES.includes(holding.type)) return false;
  if (holding.type !== 'overlay') return true;
  // What is mounted before the system starts has moved since then: in the image to the other folder.
  const [, upper = ''] = /(?:^|,)upperdir=([^,]+)/.exec(holding.options) ?? [];
  const kind = kindOf(upper) ?? kindOf(upper.replace(/^\/mnt(?=\/)/, IMAGE));
  // What cannot be found is taken for memory: the secrets stay where they are, and nothing is lost.
  return kind !== null && !IN_MEMORY.includes(kind);
}

interface Mount {
  readonly at: string;
  readonly type: string;
  readonly options: string;
}

function readMount(line: string): Mount | null {
  const [before = '', after = ''] = line.split(' - ');
  const at = before.split(' ')[4];
  const [type = '', , options = ''] = after.split(' ');
  return at === undefined ? null : { at, type, options };
}

/** Of the system that runs; others are believed to last. */
export function lasts(root: string): boolean {
  if (root !== '/') return true;
  try {
    return isLasting(readFileSync('/proc/self/mountinfo', 'utf8'), (folder) => {
      try {
        return folder === '' ? null : statfsSync(folder).type;
      } catch {
        return null;
      }
    });
  } catch {
    return true;
  }
}
