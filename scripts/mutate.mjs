/**
 * Changes sources in small ways, one at a time, in copies of the repository, and prints each change that no test notices.
 *
 *   npm run mutate -- src/backend/bill/bill.ts src/device/playout    all mutants of these files and folders
 *   npm run mutate -- --part bill --part sign-in                   all of these parts
 *   npm run mutate -- --sample 40 --seed 7 --weight page=5         a sample over all parts (or those named)
 *   npm run mutate -- --hand-made                                  those of test/mutants (also with --part and --sample)
 *
 * --most 100: at most 100 mutants, evenly spaced. --tests FILE: only these tests. --seconds 600: starts no mutant after that.
 * --results FILE: adds each result, and leaves out what is already there. --json: last line `{"mutate": {...}}`.
 * --postgres: tests of both stores run on PostgreSQL too, which takes several times as long.
 * --at-once 2: uses two copies. --least 80: exit code 1 if fewer percent are caught. --list: prints the mutants and their tests only.
 */
import { createHash } from 'node:crypto';
import * as fs from 'node:fs';
import { parseArgs } from 'node:util';
import { importTypeScript, ROOT } from './import-typescript.mjs';
import { makeCopy } from './mutate/copy.mjs';
import { makeJudge } from './mutate/judge.mjs';
import { automaticMutants, handMadeMutants } from './mutate/mutants.mjs';

const { PARTS, partOf, drawSample } = await importTypeScript('scripts/mutate/parts.ts');
const { nearestTests } = await importTypeScript('scripts/mutate/nearest-tests.ts');
const { readTree } = await importTypeScript('test/tidy/source.ts');
const { seededRandom } = await importTypeScript('src/core/random.ts');

const say = (text) => process.stdout.write(`${text}\n`);

function stop(problem) {
  process.stderr.write(`${problem}\n`);
  process.exit(2);
}

function readOptions() {
  const text = { type: 'string' };
  const texts = { type: 'string', multiple: true, default: [] };
  const yes = { type: 'boolean', default: false };
  const numbers = { most: text, sample: text, seed: text, seconds: text, least: text, 'at-once': text };
  const options = {
    ...numbers,
    part: texts,
    weight: texts,
    tests: texts,
    results: text,
    json: yes,
    list: yes,
    postgres: yes,
    'hand-made': yes,
  };
  const { values, positionals } = parseArgs({ allowPositionals: true, options });
  for (const name of Object.keys(numbers)) {
    if (values[name] === undefined) continue;
    if (!/^\d+$/.test(values[name])) stop(`--${name}: give a whole number, not "${values[name]}"`);
    values[name] = Number(values[name]);
  }
  const named = [...values.part, ...values.weight.map((one) => one.split('=')[0])];
  const unknown = named.find((name) => !PARTS.some((part) => part.name === name));
  if (unknown !== undefined)
    stop(`"${unknown}" is not a part. Parts: ${PARTS.map(({ name }) => name).join(', ')}`);
  for (const path of positionals) if (!fs.existsSync(path)) stop(`${path} does not exist`);
  return { ...values, paths: positionals };
}

async function candidates({ paths, part, sample, 'hand-made': handMade }) {
  if (paths.length + part.length === 0 && sample === undefined && !handMade)
    stop('Name files, folders or parts, or give --sample or --hand-made (docs/testing.md)');
  const isIn = (file) => paths.length === 0 || paths.some((path) => file.startsWith(path));
  const all = handMade
    ? (await handMadeMutants()).filter(({ file }) => isIn(file))
    : (paths.length > 0 ? paths : ['src']).flatMap((path) => automaticMutants(path));
  return all.filter(({ file }) => part.length === 0 || part.includes(partOf(file)));
}

function choose(all, { sample, most, seed, weight }) {
  if (sample !== undefined) {
    const weights = new Map(PARTS.map((part) => [part.name, part.weight]));
    for (const one of weight) weights.set(one.split('=')[0], Number(one.split('=')[1]));
    return drawSample(all, sample, weights, seededRandom(seed));
  }
  const count = Math.min(most ?? all.length, all.length);
  return Array.from({ length: count }, (_, i) => all[Math.floor((i * all.length) / count)]);
}

const keyOf = ({ file, mutated }) =>
  `${file} ${createHash('sha256').update(mutated).digest('hex').slice(0, 16)}`;

function readResults(file) {
  if (file === undefined || !fs.existsSync(file)) return new Map();
  const lines = fs
    .readFileSync(file, 'utf8')
    .split('\n')
    .filter((line) => line !== '');
  return new Map(lines.map((line) => JSON.parse(line)).map((one) => [one.key, one]));
}

function sayResult({ outcome, file, line, before, after, seen }) {
  if (outcome === 'caught') return;
  say(`${outcome}: ${file}:${line}`);
  for (const row of before.split('\n')) say(`  - ${row.trim()}`);
  for (const row of after.split('\n')) say(`  + ${row.trim()}`);
  if (seen !== undefined) say(`  what a person would notice: ${seen}`);
}

function summary(results) {
  const count = (rows, outcome) => rows.filter((one) => one.outcome === outcome).length;
  const rowOf = (part, rows) => ({
    part,
    mutants: rows.length,
    caught: count(rows, 'caught'),
    survived: count(rows, 'survived'),
    untested: count(rows, 'untested'),
  });
  const parts = PARTS.map(({ name }) =>
    rowOf(
      name,
      results.filter(({ part }) => part === name),
    ),
  );
  return [...parts.filter(({ mutants }) => mutants > 0), rowOf('all', results)];
}

function sayTable(rows) {
  const line = (...cells) =>
    say(cells.map((cell, i) => (i === 0 ? cell.padEnd(14) : String(cell).padStart(10))).join(''));
  line('part', 'mutants', 'caught', 'survived', 'untested', '% caught');
  for (const { part, mutants, caught, survived, untested } of rows)
    line(
      part,
      mutants,
      caught,
      survived,
      untested,
      mutants === 0 ? '-' : Math.round((100 * caught) / mutants),
    );
}

const options = readOptions();
options.seed ??= Math.floor(Math.random() * 1e6);
const all = await candidates(options).catch((error) => stop(error.message));
const chosen = choose(all, options);
const testsNear = nearestTests(readTree(ROOT));
const testsOf = (file) => (options.tests.length > 0 ? options.tests : testsNear(file));
if (options.list) {
  for (const { file, line, before, after } of chosen)
    say(`${file}:${line}\n  - ${before}\n  + ${after}\n  ${testsOf(file).slice(0, 8).join(' ')}`);
  process.exit();
}
const known = readResults(options.results);
const done = chosen.flatMap((one) => known.get(keyOf(one)) ?? []);
const queue = chosen.filter((one) => !known.has(keyOf(one)));
const seed = options.sample === undefined ? '' : `, seed ${options.seed}`;
say(
  `${chosen.length} of ${all.length} mutants${seed}${done.length > 0 ? `, ${done.length} already judged` : ''}`,
);

const { judge, unusable } = makeJudge(testsOf);
const startedAt = performance.now();
const seconds = () => (performance.now() - startedAt) / 1000;
const results = [...done];
const copies = Array.from({ length: Math.min(options['at-once'] ?? 2, queue.length) }, () =>
  makeCopy(options.postgres),
);
const removeAll = () => {
  for (const copy of copies) copy.remove();
};
for (const [signal, code] of [
  ['SIGINT', 130],
  ['SIGTERM', 143],
])
  process.once(signal, () => {
    removeAll();
    process.exit(code);
  });

async function work(copy) {
  while (queue.length > 0 && seconds() < (options.seconds ?? Infinity)) {
    const one = queue.shift();
    const began = seconds();
    const { file, line, before, after, seen } = one;
    const verdict = await judge(copy, one);
    const took = Math.round((seconds() - began) * 10) / 10;
    const result = {
      key: keyOf(one),
      part: partOf(file),
      ...verdict,
      seconds: took,
      file,
      line,
      before,
      after,
      seen,
    };
    results.push(result);
    sayResult(result);
    if (options.results !== undefined) fs.appendFileSync(options.results, `${JSON.stringify(result)}\n`);
  }
}
try {
  await Promise.all(copies.map(work));
} finally {
  removeAll();
}

for (const [test, why] of unusable) say(`not used: ${test}: ${why}`);
const rows = summary(results);
sayTable(rows);
say(`in ${Math.round(seconds())} s${queue.length > 0 ? `; ${queue.length} not tried` : ''}`);
const { mutants, caught } = rows.at(-1);
if (options.json) {
  const missed = results.filter(({ outcome }) => outcome !== 'caught').map(({ key: _, ...one }) => one);
  say(JSON.stringify({ mutate: { seed: options.seed, parts: rows, not_tried: queue.length, missed } }));
}
process.exitCode = mutants > 0 && (100 * caught) / mutants < (options.least ?? 0) ? 1 : 0;
