/** The canceller's thread as the build makes it, for tests that run from the source. */
import { copyFileSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { build } from 'esbuild';

const ROOT = fileURLToPath(new URL('../../../', import.meta.url));

export interface BuiltThread {
  readonly url: URL;
  /** A thread that does something else. @param code a module */
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
    plugins: [
      {
        name: 'keep-apart',
        setup({ onResolve }) {
          onResolve({ filter: /webrtcaec3/ }, () => ({ path: './webrtcaec3.cjs', external: true }));
        },
      },
    ],
  });
  const library = createRequire(import.meta.url).resolve('@ennuicastr/webrtcaec3.js');
  copyFileSync(library, join(folder, 'webrtcaec3.cjs'));
  copyFileSync(library.replace(/js$/, 'wasm'), join(folder, basename(library).replace(/js$/, 'wasm')));
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
