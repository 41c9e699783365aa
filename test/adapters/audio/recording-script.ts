import { execFileSync, spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const SCRIPT = fileURLToPath(new URL('../../../scripts/make-recording.sh', import.meta.url));

export const isMakeable = ['espeak-ng', 'sox'].every((tool) => spawnSync(tool, ['--version']).status === 0);

/** The recording of the demo and its notes, made anew. */
export function makeRecording(folder: string): Buffer[] {
  execFileSync(SCRIPT, [folder], { stdio: 'pipe' });
  return ['visitor.wav', 'visitor.json'].map((name) => readFileSync(join(folder, name)));
}
