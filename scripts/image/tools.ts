import { spawnSync } from 'node:child_process';
import { accessSync, constants } from 'node:fs';
import { delimiter, join } from 'node:path';
import type { Options } from './image-options.ts';

/** A program, and the package of Debian that has it. */
type Tool = readonly [program: string, packageName: string];

const ALWAYS: readonly Tool[] = [
  ['mke2fs', 'e2fsprogs'],
  ['mformat', 'mtools'],
  ['mcopy', 'mtools'],
  ['tar', 'tar'],
];
const FOR_DEBIAN: readonly Tool[] = [
  ['mmdebstrap', 'mmdebstrap'],
  ['arch-test', 'arch-test'],
  ['dpkg-deb', 'dpkg'],
];
const COMPRESSORS: Readonly<Record<Options['compression'], readonly Tool[]>> = {
  xz: [['xz', 'xz-utils']],
  zstd: [['zstd', 'zstd']],
  none: [],
};
/** Folders of administration programs, which may be missing in PATH. */
export const FOLDERS_OF_PROGRAMS = ['/usr/local/sbin', '/usr/sbin', '/sbin'];

/** @returns a sentence about what is missing on this machine; null if nothing is */
export function whatIsMissing(
  { root, compression }: Pick<Options, 'root' | 'compression'>,
  folders: readonly string[] = [...(process.env['PATH'] ?? '').split(delimiter), ...FOLDERS_OF_PROGRAMS],
): string | null {
  if (root === null && process.getuid?.() !== 0)
    return 'making a Debian for another processor needs root: use sudo';
  const needed = [...ALWAYS, ...(root === null ? FOR_DEBIAN : []), ...COMPRESSORS[compression]];
  const missing = needed.filter(([program]) => !isProgram(program, folders));
  if (missing.length === 0) return root === null && !runsArm(folders) ? CANNOT_RUN : null;
  const packages = [...new Set(missing.map(([, name]) => name))];
  return `${missing.map(([program]) => program).join(', ')} ${missing.length === 1 ? 'is' : 'are'} missing: apt install ${packages.join(' ')}`;
}

const CANNOT_RUN =
  'programs for arm64 cannot run here: apt install qemu-user-static binfmt-support; where they are installed, "update-binfmts --enable qemu-aarch64"';

/** Whether programs for arm64 run here, natively or emulated. */
function runsArm(folders: readonly string[]): boolean {
  const PATH = folders.join(delimiter);
  return spawnSync('arch-test', ['arm64'], { env: { ...process.env, PATH }, stdio: 'ignore' }).status === 0;
}

function isProgram(name: string, folders: readonly string[]): boolean {
  return folders.some((folder) => {
    try {
      accessSync(join(folder, name), constants.X_OK);
      return folder !== '';
    } catch {
      return false;
    }
  });
}
