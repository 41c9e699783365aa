import { accessSync, constants } from 'node:fs';
import { delimiter, join } from 'node:path';

/** The path of an executable program; null when there is none. */
export function findProgram(name: string): string | null {
  if (name.includes('/')) return isExecutable(name) ? name : null;
  const folders = (process.env['PATH'] ?? '/usr/local/bin:/usr/bin:/bin').split(delimiter);
  for (const folder of folders) {
    const path = join(folder, name);
    if (folder !== '' && isExecutable(path)) return path;
  }
  return null;
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
