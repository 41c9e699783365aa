/**
 * Breaks the core in known ways, one at a time, in a copy, and shows that the tests notice each.
 * Ends with 1 if one is not noticed. `--only <name>` tries a single one.
 */
import { spawn } from 'node:child_process';
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { MUTANTS } from './mutants/index.mjs';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const COPIED = [
  'src',
  'test/core',
  'test/properties.ts',
  'test/virtual-clock.ts',
  'package.json',
  'tsconfig.json',
];
const WORKERS = 2;
/** A broken core may run in circles: that is noticed, too. */
const LONGEST_RUN_MS = 60_000;

/** A copy of the core and its tests, to be broken. */
function makeCopy() {
  const folder = mkdtempSync(join(tmpdir(), 'dragoman-mutate-'));
  for (const path of COPIED) cpSync(join(ROOT, path), join(folder, path), { recursive: true });
  symlinkSync(join(ROOT, 'node_modules'), join(folder, 'node_modules'));
  writeFileSync(
    join(folder, 'vitest.config.mjs'),
    "export default { test: { include: ['test/core/**/*.test.ts'], testTimeout: 20000, maxWorkers: 1 } };\n",
  );
  return folder;
}

/** Runs tests of the core; tells whether they passed, failed, or never came to an end. */
function runTests(folder, tests) {
  const vitest = join(folder, 'node_modules/vitest/vitest.mjs');
  const paths = tests.map((path) => `test/core/${path}`);
  return new Promise((resolve) => {
    const child = spawn(process.execPath, [vitest, 'run', '--bail=1', '--reporter=json', ...paths], {
      cwd: folder,
      stdio: ['ignore', 'pipe', 'ignore'],
      // A group of its own: an endless mutant ends with the worker that runs it.
      detached: true,
    });
    let output = '';
    child.stdout.on('data', (data) => {
      output += data;
    });
    const timer = setTimeout(() => process.kill(-child.pid, 'SIGKILL'), LONGEST_RUN_MS);
    child.on('close', (code, signal) => {
      clearTimeout(timer);
      resolve(signal !== null ? { result: 'endless' } : { result: code === 0 ? 'passed' : 'failed', output });
    });
  });
}

/** The first test that failed; null where the files could not even be read, which proves nothing. */
function firstFailure(output) {
  const { testResults } = JSON.parse(output.slice(output.indexOf('{')));
  const failed = testResults
    .flatMap((file) => file.assertionResults)
    .find(({ status }) => status === 'failed');
  return failed?.fullName ?? null;
}

/** Breaks one thing, and fixes it again. Returns what the tests said about it, or throws where it can't be tried. */
async function tryMutant(folder, { name, file, find, replace, tests }) {
  const path = join(folder, 'src/core', file);
  const source = readFileSync(path, 'utf8');
  const found = source.split(find).length - 1;
  if (found !== 1) throw new Error(`"${name}": its text occurs ${found} times in ${file}, not once`);
  writeFileSync(
    path,
    source.replace(find, () => replace),
  );
  try {
    const { result, output } = await runTests(folder, tests);
    if (result === 'passed') return null;
    if (result === 'endless') return 'the tests come to no end';
    const failure = firstFailure(output);
    if (failure === null) throw new Error(`"${name}" breaks the syntax, not the behaviour`);
    return failure;
  } finally {
    writeFileSync(path, source);
  }
}

async function main() {
  const { values } = parseArgs({ options: { only: { type: 'string' } } });
  const chosen = MUTANTS.filter(({ name }) => values.only === undefined || name === values.only);
  if (chosen.length === 0) {
    process.stderr.write(`There is no mutant "${values.only}"; see scripts/mutants.\n`);
    process.exit(2);
  }
  const startedAt = performance.now();
  const copies = Array.from({ length: WORKERS }, makeCopy);
  const queue = [...chosen];
  let survivors = 0;
  try {
    const tests = [...new Set(chosen.flatMap((mutant) => mutant.tests))];
    const sound = await runTests(copies[0], tests);
    if (sound.result !== 'passed') {
      throw new Error(`the tests fail without any mutant: ${sound.output && firstFailure(sound.output)}`);
    }
    await Promise.all(
      copies.map(async (folder) => {
        for (let mutant = queue.shift(); mutant !== undefined; mutant = queue.shift()) {
          const noticed = await tryMutant(folder, mutant);
          if (noticed === null) survivors++;
          process.stdout.write(
            noticed === null ? `SURVIVED  ${mutant.name}\n` : `noticed   ${mutant.name}: ${noticed}\n`,
          );
        }
      }),
    );
  } finally {
    for (const folder of copies) rmSync(folder, { recursive: true, force: true });
  }
  const seconds = Math.round((performance.now() - startedAt) / 1000);
  process.stdout.write(`${chosen.length - survivors} of ${chosen.length} noticed, in ${seconds} s\n`);
  process.exitCode = survivors === 0 ? 0 : 1;
}

main().catch((error) => {
  process.stderr.write(`${error.message}\n`);
  process.exitCode = 1;
});
