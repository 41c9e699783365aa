/** Reads files of the kernel and of other programs, which may be absent or disappear meanwhile. */
import { readdirSync, readFileSync } from 'node:fs';

/** Null when it cannot be read. */
export function readIfReadable(path: string): string | null {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return null;
  }
}

/** Empty when it cannot be read. */
export function listIfReadable(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}
