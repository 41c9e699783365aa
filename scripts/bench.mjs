/**
 * Bundles the benchmark with the programs that it measures, all from this source, and runs it:
 * `npm run bench -- [--json] [--write] [--quick] [--cancel] [--with-addons]`; `--help` says more.
 */
import { spawn, spawnSync } from 'node:child_process';
import { copyFile, mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const CARD = join(ROOT, 'test/card');
const PROGRAMS = ['main.ts', 'relay-thread.ts', 'day.ts', 'bare-loop.mjs', 'addon-loop.mjs'];
const FVAD = join(ROOT, 'node_modules/@echogarden/fvad-wasm/fvad.wasm');

async function prepare(folder) {
  const dist = join(folder, 'dist');
  const built = spawnSync(process.execPath, [join(ROOT, 'scripts/build.mjs'), '--quiet', '--out', dist], {
    stdio: ['ignore', 'inherit', 'inherit'],
  });
  if (built.status !== 0) throw new Error('the programs could not be built');
  await build({
    absWorkingDir: ROOT,
    entryPoints: PROGRAMS.map((name) => `scripts/bench/${name}`),
    outdir: folder,
    outExtension: { '.js': '.mjs' },
    bundle: true,
    platform: 'node',
    format: 'esm',
    target: 'node20',
    banner: {
      js: "import { createRequire as bundleCreateRequire } from 'node:module';\nconst require = bundleCreateRequire(import.meta.url);",
    },
    define: { BENCH_ROOT: JSON.stringify(ROOT) },
    logLevel: 'warning',
  });
  for (const file of await readdir(CARD)) {
    if (/\.[ch]$/.test(file)) await copyFile(join(CARD, file), join(folder, file));
  }
  await copyFile(FVAD, join(folder, 'fvad.wasm'));
}

const folder = await mkdtemp(join(tmpdir(), 'dragoman-bench-'));
try {
  await prepare(folder);
  const child = spawn(process.execPath, [join(folder, 'main.mjs'), ...process.argv.slice(2)], {
    stdio: 'inherit',
  });
  // Ctrl-C in a terminal reaches the child, too, which cleans up before it ends.
  process.on('SIGINT', () => {});
  process.on('SIGTERM', () => child.kill('SIGTERM'));
  process.exitCode = await new Promise((resolve) => child.on('exit', (code) => resolve(code ?? 1)));
} finally {
  await rm(folder, { recursive: true, force: true });
}
