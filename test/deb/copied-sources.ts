import { copyFileSync, cpSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';

/** Copies the sources to another place, without git and with shared packages. */
export function copySources(root: string, place: string): string {
  for (const part of ['src', 'scripts', 'config', 'docs', 'examples', 'systemd'])
    cpSync(join(root, part), join(place, part), { recursive: true });
  for (const file of ['package.json', 'package-lock.json', 'tsconfig.json', 'LICENSE', 'CHANGELOG.md'])
    copyFileSync(join(root, file), join(place, file));
  symlinkSync(join(root, 'node_modules'), join(place, 'node_modules'));
  return place;
}
