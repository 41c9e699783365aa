/** The canceller's thread, built for tests that run from the source. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { build } from 'esbuild';

const ROOT = fileURLToPath(new URL('../../../', import.meta.url));

export interface BuiltThread {
  readonly url: URL;
  /** A thread with other code. @param code a module */
  other(code: string): URL;
  remove(): void;
}

export async function buildThread(): Promise<BuiltThread> {
  const folder = mkdtempSync(join(tmpdir(), 'dragoman-echo-'));
  const file = join(folder, 'echo-worker.mjs');
  await build({
    absWorkingDir: ROOT,
    entryPoints: ['src/adapters/echo/echo-worker.ts'],
    outfile: file,
    bundle: true,
    platform: 'node',
    format: 'esm',
    target: 'node20',
  });
  let others = 0;
  return {
    url: pathToFileURL(file),
    other(code) {
      const path = join(folder, `other-${others++}.mjs`);
      writeFileSync(path, code);
      return pathToFileURL(path);
    },
    remove: () => rmSync(folder, { recursive: true }),
  };
}
