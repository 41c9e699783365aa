/**
 * Changes the named sources in small ways, one at a time, in a copy, runs their tests, and prints each change that no test
 * notices: `npm run mutate -- src/core/playout [--tests test/core/lane] [--most 100]`.
 * Without --tests, the tests of `src/core/playout` are those in `test/core/playout`.
 */
import { spawn } from 'node:child_process';
import * as fs from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { parseArgs } from 'node:util';
import { parseSync } from 'vite';
import { importTypeScript, ROOT } from './import-typescript.mjs';

const COPIED = ['src', 'test', 'config', 'docs', 'package.json', 'tsconfig.json'];
const TESTS = `{ include: ['test/**/*.test.ts'], exclude: ['**/*.long.test.ts'], maxWorkers: 1, isolate: false }`;
const CONFIG = `import { localImports } from './test/setup/local-imports.ts';
export default { plugins: [localImports()], test: ${TESTS} };`;

/** The tests in the same place under test/, or else in the nearest folder above it. */
function testsOf(path) {
  const [file, folder] = [path.replace(/(\.ts)?$/, '.test.ts'), path.replace(/\.ts$/, '')];
  return [file, folder].find((one) => fs.existsSync(join(ROOT, one))) ?? testsOf(dirname(path));
}

function mutationsUnder(path) {
  const isFile = fs.statSync(join(ROOT, path)).isFile();
  const names = isFile ? [''] : fs.readdirSync(join(ROOT, path), { recursive: true });
  return names
    .map((name) => join(path, name))
    .filter((file) => file.endsWith('.ts'))
    .flatMap((file) => {
      const text = fs.readFileSync(join(ROOT, file), 'utf8');
      return mutationsIn(parseSync(file, text).program, text).map((one) => ({ file, text, ...one }));
    });
}

function makeCopy() {
  const folder = fs.mkdtempSync(join(tmpdir(), 'dragoman-mutate-'));
  for (const path of COPIED) fs.cpSync(join(ROOT, path), join(folder, path), { recursive: true });
  fs.symlinkSync(join(ROOT, 'node_modules'), join(folder, 'node_modules'));
  fs.writeFileSync(join(folder, 'vitest.config.ts'), CONFIG);
  return folder;
}

/** Returns whether the tests pass. A mutated loop may never end: it fails after `longestMs`. */
function passes(folder, longestMs) {
  return new Promise((resolve) => {
    const vitest = join(folder, 'node_modules/vitest/vitest.mjs');
    // A process group of its own, so that the worker ends with it.
    const options = { cwd: folder, stdio: 'ignore', detached: true };
    const child = spawn(process.execPath, [vitest, 'run', '--bail=1', ...tests], options);
    const timer = setTimeout(() => process.kill(-child.pid, 'SIGKILL'), longestMs);
    child.on('close', (code) => {
      clearTimeout(timer);
      resolve(code === 0);
    });
  });
}

async function tryAll(folder, queue, longestMs) {
  let survivors = 0;
  for (let one = queue.shift(); one !== undefined; one = queue.shift()) {
    const { file, text, start, end, replacement } = one;
    const path = join(folder, file);
    const mutated = text.slice(0, start) + replacement + text.slice(end);
    fs.writeFileSync(path, mutated);
    const survived = await passes(folder, longestMs);
    fs.writeFileSync(path, text);
    if (!survived) continue;
    survivors += 1;
    const line = text.slice(0, start).split('\n').length;
    const [before, after] = [text, mutated].map((code) => code.split('\n')[line - 1].trim());
    process.stdout.write(`survived: ${file}:${line}\n  - ${before}\n  + ${after}\n`);
  }
  return survivors;
}

const { mutationsIn } = await importTypeScript('scripts/mutate/mutations.ts');
const options = { tests: { type: 'string', multiple: true }, most: { type: 'string', default: 'Infinity' } };
const { values, positionals } = parseArgs({ allowPositionals: true, options });
if (positionals.length === 0) {
  process.stderr.write('Name a file or a folder: npm run mutate -- src/core/playout\n');
  process.exit(2);
}
const tests = values.tests ?? positionals.map((path) => testsOf(path.replace(/^src\//, 'test/')));
const all = positionals.flatMap(mutationsUnder);
/** Taken evenly from all of them. */
const most = Math.min(Number(values.most), all.length);
const queue = Array.from({ length: most }, (_, i) => all[Math.floor((i * all.length) / most)]);
const copies = Array.from({ length: availableParallelism() }, makeCopy);
try {
  const startedAt = performance.now();
  if (!(await passes(copies[0], 600_000))) throw new Error(`${tests.join(' ')}: fail without any mutation`);
  const longestMs = 10_000 + 5 * (performance.now() - startedAt);
  process.stdout.write(`${queue.length} of ${all.length} mutations, tests: ${tests.join(' ')}\n`);
  const survivors = await Promise.all(copies.map((folder) => tryAll(folder, queue, longestMs)));
  const seconds = Math.round((performance.now() - startedAt) / 1000);
  process.stdout.write(`${survivors.reduce((a, b) => a + b)} survived, in ${seconds} s\n`);
} finally {
  for (const folder of copies) fs.rmSync(folder, { recursive: true, force: true });
}
