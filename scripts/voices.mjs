/** Bundles the test of voices and noises and runs it: `npm run voices -- [--draws N] [--seed S] [--list] [--json]`. */
import { spawn } from 'node:child_process';
import { copyFile, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const FOLDER = await mkdtemp(join(tmpdir(), 'dragoman-voices-'));
const BUNDLE = join(FOLDER, 'voices.mjs');

await build({
  absWorkingDir: ROOT,
  entryPoints: ['test/voices/main.ts'],
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
// The detector looks for its compiled part beside the bundle.
await copyFile(join(ROOT, 'node_modules/@echogarden/fvad-wasm/fvad.wasm'), join(FOLDER, 'fvad.wasm'));
const child = spawn(process.execPath, ['--enable-source-maps', BUNDLE, ...process.argv.slice(2)], {
  stdio: 'inherit',
});
child.on('exit', (code) => {
  process.exitCode = code ?? 1;
  void rm(FOLDER, { recursive: true, force: true });
});
