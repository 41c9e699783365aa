import { statSync } from 'node:fs';
import { dirname, isAbsolute, join, resolve } from 'node:path';
import { isObject } from '../../protocol/common/json.ts';
import type { Environment } from './environment.ts';

/**
 * Resolves relative file names: in systemd's credentials folder, beside the configuration, or in the folder `secrets` there. A file
 * that is in none of them keeps its name, which is relative to the working folder.
 * @param value a configuration; its keys that end in `File` or `Files` name files, and `folder` a folder
 */
export function withPlaces<T>(value: T, configFile: string | null, env: Environment): T {
  const folders = configFile === null ? [] : [dirname(resolve(configFile))];
  return placed(value, (name) => placeOf(name, folders, env)) as T;
}

function placed(value: unknown, place: (name: string) => string): unknown {
  if (Array.isArray(value)) return value.map((part) => placed(part, place));
  if (!isObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, part]) => {
      if ((key.endsWith('File') || key === 'folder') && typeof part === 'string') return [key, place(part)];
      if (key.endsWith('Files') && Array.isArray(part))
        return [key, part.map((name: unknown) => (typeof name === 'string' ? place(name) : name))];
      return [key, placed(part, place)];
    }),
  );
}

function placeOf(name: string, folders: readonly string[], env: Environment): string {
  if (isAbsolute(name)) return name;
  const credentials = name.includes('/') ? undefined : env['CREDENTIALS_DIRECTORY'];
  const candidates = [
    ...(credentials === undefined ? [] : [credentials]),
    ...folders.flatMap((folder) => [folder, join(folder, 'secrets')]),
  ].map((folder) => join(folder, name));
  return candidates.find(isThere) ?? name;
}

/** Also true for a file that this user may not see: the error about it then names its place. */
function isThere(file: string): boolean {
  try {
    return statSync(file, { throwIfNoEntry: false }) !== undefined;
  } catch (error) {
    return ['EACCES', 'EPERM'].includes((error as NodeJS.ErrnoException).code ?? '');
  }
}
