/** Bundles the simulator and runs it: `npm run sim -- --seeds N --hours H [--seed S] [--json] [--day]`. */
import { spawn } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const FOLDER = await mkdtemp(join(tmpdir(), 'dragoman-sim-'));
const BUNDLE = join(FOLDER, 'sim.mjs');

await build({
  absWorkingDir: ROOT,
  entryPoints: ['test/sim/main.ts'],
  outfile: BUNDLE,
  bundle: true,
  platform: 'node',
  format: 'esm',
  target: 'node20',
  sourcemap: 'inline',
  sourcesContent: false,
  // The bundle stands elsewhere, and looks for the recording beside its source.
  define: { 'import.meta.dirname': JSON.stringify(join(ROOT, 'test/sim')) },
  // Parts of the agent that the simulator never calls bring packages that are not modules.
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
