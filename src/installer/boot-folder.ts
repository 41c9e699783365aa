import { statSync } from 'node:fs';
import { dirname } from 'node:path';

/** Mount points of the boot partition: in today's Raspberry Pi OS, and in older ones. */
export const BOOT_FOLDERS: readonly string[] = ['/boot/firmware', '/boot'];

export function isFolder(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false;
}

/**
 * The folder for the boot report, which is written as root. The path of the file comes from a folder of the agent's user, who could
 * otherwise make root write anywhere. So only mount points of boot partitions are accepted.
 * @param file path of the settings that were read; null: none, or unknown
 * @returns null when there is no such folder
 */
export function reportFolder(file: string | null, folders = BOOT_FOLDERS): string | null {
  const named = file === null ? undefined : folders.find((folder) => folder === dirname(file));
  return [...(named === undefined ? [] : [named]), ...folders].find(isFolder) ?? null;
}
