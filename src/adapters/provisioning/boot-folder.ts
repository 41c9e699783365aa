import { statSync } from 'node:fs';
import { dirname } from 'node:path';

/** Where systems mount the boot partition: Raspberry Pi OS, and all before it. */
export const BOOT_FOLDERS: readonly string[] = ['/boot/firmware', '/boot'];

export function isFolder(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false;
}

/**
 * Where the boot report writes to, as root. What names the file that was read lies in a folder of the agent's user, who could
 * have root write anywhere by it: only the places of boot partitions count.
 * @param file that was read; null: none, or nobody knows
 * @returns null where there is no such place
 */
export function reportFolder(file: string | null, folders = BOOT_FOLDERS): string | null {
  const named = file === null ? undefined : folders.find((folder) => folder === dirname(file));
  return [...(named === undefined ? [] : [named]), ...folders].find(isFolder) ?? null;
}
