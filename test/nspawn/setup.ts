import { execFile, spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import type { TestProject } from 'vitest/node';
import { makeBundles } from '../bundles.ts';
import { openRunFolder } from '../setup/run-folder.ts';

const run = promisify(execFile);
const ROOT = fileURLToPath(new URL('../../', import.meta.url));
/** A Debian to boot, or the reason why there is none. */
export type Debian =
  | { readonly suite: string; readonly root: string; readonly bundles: string; readonly missing: null }
  | { readonly suite: string; readonly missing: string };

declare module 'vitest' {
  interface ProvidedContext {
    debian: Debian;
  }
}

/** Makes the bundles and the root once for all files of a project. The project's name starts with that of its Debian. */
export default async function setup(project: TestProject): Promise<void> {
  openRunFolder();
  const suite = project.name.replace(/-.*/, '');
  const missing = whatIsMissing();
  if (missing !== null) {
    project.provide('debian', { suite, missing });
    return;
  }
  const [{ stdout }, bundles] = await Promise.all([
    run('scripts/debian-root.sh', [suite], { cwd: ROOT }),
    makeBundles(),
  ]);
  project.provide('debian', { suite, root: stdout.trim(), bundles, missing: null });
}

function whatIsMissing(): string | null {
  if (process.getuid?.() !== 0) return 'not root';
  for (const [program, packageName] of [
    ['systemd-nspawn', 'systemd-container'],
    ['debootstrap', 'debootstrap'],
    ['nsenter', 'util-linux'],
  ] as const) {
    if (spawnSync(program, ['--version']).status !== 0) return `no ${program} (${packageName})`;
  }
  return null;
}
