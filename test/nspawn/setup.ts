import { execFile, spawnSync } from 'node:child_process';
import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import type { TestProject } from 'vitest/node';

const run = promisify(execFile);
const ROOT = fileURLToPath(new URL('../../', import.meta.url));
/** What ships the agent, oldest systemd first. */
const SUITES = ['bookworm', 'trixie'] as const;

/** A Debian to boot, or why there is none here. */
export type Debian =
  | { readonly suite: string; readonly root: string; readonly bundles: string; readonly missing: null }
  | { readonly suite: string; readonly missing: string };

declare module 'vitest' {
  interface ProvidedContext {
    debians: Debian[];
  }
}

/** Makes the bundles and the roots once for all files. */
export default async function setup(project: TestProject): Promise<() => void> {
  const missing = whatIsMissing();
  if (missing !== null) {
    project.provide(
      'debians',
      SUITES.map((suite) => ({ suite, missing })),
    );
    return () => {};
  }
  const bundles = mkdtempSync(join(tmpdir(), 'dragoman-bundles-'));
  // The service's user reads them.
  chmodSync(bundles, 0o755);
  const forget = () => rmSync(bundles, { recursive: true, force: true });
  try {
    await run(process.execPath, ['scripts/build.mjs', '--quiet', '--out', bundles], { cwd: ROOT });
    const made = SUITES.map(async (suite): Promise<Debian> => {
      const { stdout } = await run('scripts/debian-root.sh', [suite], { cwd: ROOT });
      return { suite, root: stdout.trim(), bundles, missing: null };
    });
    project.provide('debians', await Promise.all(made));
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
