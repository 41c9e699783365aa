import { join } from 'node:path';
import type { KernelFolders } from '../ports/machine.ts';
import { listIfReadable, readIfReadable } from './if-readable.ts';

export const KERNEL_FOLDERS: KernelFolders = { proc: '/proc', sys: '/sys' };

/** The hottest sensor; null when there is none. */
export function readTemperature({ sys }: KernelFolders): number | null {
  const folder = join(sys, 'class', 'thermal');
  const entries = listIfReadable(folder)
    .filter((name) => name.startsWith('thermal_zone'))
    .map((name) => Number(readIfReadable(join(folder, name, 'temp')) ?? Number.NaN) / 1000)
    // Sensors that are not connected report impossible values.
    .filter((celsius) => celsius > -40 && celsius < 150);
  return entries.length === 0 ? null : Math.max(...entries);
}
