/** Bundles the test of the echo canceller and runs it: `npm run echo -- [--seed S] [--only TEXT] [--short] [--json]`. */
import { spawn } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const FOLDER = await mkdtemp(join(tmpdir(), 'dragoman-echo-'));
const BUNDLE = join(FOLDER, 'echo.mjs');

await build({
  absWorkingDir: ROOT,
  entryPoints: ['test/echo/main.ts'],
  outfile: BUNDLE,
  bundle: true,
  platform: 'node',
  format: 'esm',
  target: 'node20',
  sourcemap: 'inline',
  sourcesContent: false,
  banner: {
    js: "import { createRequire } from 'node:module'; const require = createRequire(import.meta.url);",
  },
  logLevel: 'warning',
});
const child = spawn(process.execPath, ['--enable-source-maps', BUNDLE, ...process.argv.slice(2)], {
  stdio: 'inherit',
});
child.on('exit', (code) => {
  process.exitCode = code ?? 1;
  void rm(FOLDER, { recursive: true, force: true });
});
