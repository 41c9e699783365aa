/** What the kernel and other programs leave in files that may not be there, or go while they are looked at. */
import { readdirSync, readFileSync } from 'node:fs';

/** Null where it cannot be read. */
export function readIfReadable(path: string): string | null {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return null;
  }
}

/** Nothing where it cannot be read. */
export function listIfReadable(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}
