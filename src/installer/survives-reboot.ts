/** Whether files below /etc survive a reboot: secrets must not be removed from the file if the copy is only in memory. */
import { readFileSync, statfsSync } from 'node:fs';

const PLACE = '/etc/dragoman';
const IMAGE = '/run/dragoman-image';
/** statfs(2) */
const IN_MEMORY: readonly number[] = [0x01021994, 0x858458f6];
const MEMORY_TYPES: readonly string[] = ['tmpfs', 'ramfs'];

/** The type of a file system; null when there is no such folder. */
export type KindOf = (folder: string) => number | null;

/** @param mounts content of /proc/self/mountinfo */
export function isLasting(mounts: string, kindOf: KindOf): boolean {
  const holding = mounts
    .split('\n')
    .map(readMount)
    .filter((mount) => mount !== null)
    .filter(({ at }) => at === '/' || PLACE === at || PLACE.startsWith(`${at}/`))
    // The longest mount point holds the path; of several equal ones, the last hides the others.
    .reduce<Mount | null>(
      (best, one) => (best === null || one.at.length >= best.at.length ? one : best),
      null,
    );
  if (holding === null) return true;
  if (MEMORY_TYPES.includes(holding.type)) return false;
  if (holding.type !== 'overlay') return true;
  // The path is from before the system's start: since then the mount has moved, in the image from /mnt to `IMAGE`.
  const [, upper = ''] = /(?:^|,)upperdir=([^,]+)/.exec(holding.options) ?? [];
  const kind = kindOf(upper) ?? kindOf(upper.replace(/^\/mnt(?=\/)/, IMAGE));
  // An unknown file system counts as memory: the secrets stay where they are, and nothing is lost.
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

/** For the running system; another root is assumed to be persistent. */
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
