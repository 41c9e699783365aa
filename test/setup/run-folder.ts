import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { RUN_FOLDER } from '../once-a-run.ts';

/** Makes the folder of shared files before the first test of a run, and deletes it after the last. */
export default function setup(): () => void {
  const folder = mkdtempSync(join(tmpdir(), 'dragoman-tests-'));
  process.env[RUN_FOLDER] = folder;
  return () => rmSync(folder, { recursive: true, force: true });
}
