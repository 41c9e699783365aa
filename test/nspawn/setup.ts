import { execFile, spawnSync } from 'node:child_process';
import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import type { TestProject } from 'vitest/node';
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
export default async function setup(project: TestProject): Promise<() => void> {
  openRunFolder();
  const suite = project.name.replace(/-.*/, '');
  const missing = whatIsMissing();
  if (missing !== null) {
    project.provide('debian', { suite, missing });
    return () => {};
  }
  const bundles = mkdtempSync(join(tmpdir(), 'dragoman-bundles-'));
  // The service's user must be able to read them.
  chmodSync(bundles, 0o755);
  const forget = () => rmSync(bundles, { recursive: true, force: true });
  try {
    const [{ stdout }] = await Promise.all([
      run('scripts/debian-root.sh', [suite], { cwd: ROOT }),
      run(process.execPath, ['scripts/build.mjs', '--quiet', '--out', bundles], { cwd: ROOT }),
    ]);
    project.provide('debian', { suite, root: stdout.trim(), bundles, missing: null });
  } catch (error) {
    forget();
    throw error;
  }
  return forget;
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
