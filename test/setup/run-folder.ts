import { existsSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename } from 'node:path';
import { RUN_FOLDER } from '../once-a-run.ts';
import { isOwnFolder, MEMORY, makeOwnFolder, removeAbandoned } from './temporary.ts';

/**
 * Makes the folder of a run before its first test, and deletes it after the last. It contains the shared files, and all temporary
 * folders: `tmpdir()` is inside. A killed run leaves only this folder, which the next run removes.
 */
export default function setup(): () => void {
  const folder = openRunFolder();
  return () => rmSync(folder, { recursive: true, force: true });
}

/** The folder of this run. The setup of a project needs it earlier than the setup of the whole run makes it. */
export function openRunFolder(): string {
  const known = process.env[RUN_FOLDER];
  if (known !== undefined && isOwnFolder(basename(known))) return known;
  for (const place of [tmpdir(), MEMORY]) if (existsSync(place)) removeAbandoned(place);
  const folder = makeOwnFolder(tmpdir());
  process.env[RUN_FOLDER] = folder;
  process.env['TMPDIR'] = folder;
  return folder;
}
