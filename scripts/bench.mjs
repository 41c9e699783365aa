/**
 * Bundles the benchmark with the programs that it measures, all from this source, and runs it:
 * `npm run bench -- [--json] [--write] [--quick] [--against REF] [--cancel] [--with-addons]`;
 * `--help` says more.
 */
import { spawn, spawnSync } from 'node:child_process';
import { copyFile, mkdir, mkdtemp, readdir, readFile, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { build } from 'esbuild';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const CARD = join(ROOT, 'test/card');
const PROGRAMS = ['main.ts', 'relay-thread.ts', 'day.ts', 'bare-loop.mjs', 'addon-loop.mjs'];
const FVAD = join(ROOT, 'node_modules/@echogarden/fvad-wasm/fvad.wasm');

/** Runs a command to its end. Returns its standard output if `stdout` is 'pipe'. */
function run(command, words, failure, { cwd = ROOT, stdout = 'inherit', input } = {}) {
  const ended = spawnSync(command, words, {
    cwd,
    input,
    stdio: [input === undefined ? 'ignore' : 'pipe', stdout, 'inherit'],
    maxBuffer: 2 ** 30,
  });
  if (ended.status !== 0) throw new Error(failure);
  return ended.stdout;
}

function buildPrograms(source, dist) {
  const words = [join(source, 'scripts/build.mjs'), '--quiet', '--out', dist];
  run(process.execPath, words, `the programs could not be built in ${source}`);
}

/** Builds another commit from its own sources, with the packages of its own lock file. */
async function buildOther(ref, folder) {
  const source = join(folder, 'source');
  await mkdir(source, { recursive: true });
  const commit = ['rev-parse', '--verify', '--quiet', '--end-of-options', `${ref}^{commit}`];
  const hash = run('git', commit, `--against: "${ref}" is not a commit of this repository`, {
    stdout: 'pipe',
  });
  const archive = ['archive', hash.toString().trim()];
  const input = run('git', archive, `--against: git cannot export "${ref}"`, { stdout: 'pipe' });
  run('tar', ['-x', '-C', source], `--against: cannot unpack "${ref}"`, { input });
  const locks = await Promise.all([ROOT, source].map((root) => readFile(join(root, 'package-lock.json'))));
  if (locks[0].equals(locks[1])) await symlink(join(ROOT, 'node_modules'), join(source, 'node_modules'));
  else {
    const words = ['ci', '--no-audit', '--no-fund'];
    run('npm', words, `--against: npm cannot install the packages of "${ref}"`, { cwd: source });
  }
  buildPrograms(source, join(folder, 'dist'));
}

/** The value of `--against`; the benchmark itself refuses invalid options. */
function otherCommit() {
  const { values } = parseArgs({ options: { against: { type: 'string' } }, strict: false });
  return typeof values.against === 'string' ? values.against : null;
}

async function prepare(folder) {
  buildPrograms(ROOT, join(folder, 'dist'));
  const ref = otherCommit();
  if (ref !== null) await buildOther(ref, join(folder, 'other'));
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
let child = null;
let isAsked = false;
// Ctrl-C in a terminal reaches the commands of the build and the child, too, which clean up before they end.
process.on('SIGINT', () => {
  isAsked = true;
});
process.on('SIGTERM', () => {
  isAsked = true;
  child?.kill('SIGTERM');
});
try {
  await prepare(folder);
  if (isAsked) throw new Error('ended before the measurement');
  child = spawn(process.execPath, [join(folder, 'main.mjs'), ...process.argv.slice(2)], {
    stdio: 'inherit',
  });
  process.exitCode = await new Promise((resolve) => child.on('exit', (code) => resolve(code ?? 1)));
} finally {
  await rm(folder, { recursive: true, force: true });
}
