import { readdirSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';

/* Checks the table of README.md against the suite. */

const FOLDER = new URL('.', import.meta.url);
const NOT_TESTED = 'not tested: ';

interface Row {
  readonly id: string;
  readonly sentence: string;
  readonly tests: readonly string[];
  /** Reason why there is no test; '' if there is one. */
  readonly why: string;
}

function read(file: string): string {
  return readFileSync(new URL(file, FOLDER), 'utf8');
}

/** Names of all tests in the code of the suite. */
function namesInCode(): string[] {
  const files = readdirSync(FOLDER).filter((file) => /^(section|live).*\.test\.ts$/.test(file));
  return files.flatMap((file) => {
    const code = read(file);
    const calls = [...code.matchAll(/(?<![.\w])test\(\s*(?:'((?:[^'\\]|\\.)*)'|"((?:[^"\\]|\\.)*)")/g)];
    const starts = [...code.matchAll(/(?<![.\w])test[.(]/g)];
    expect(calls.length, `${file}: each test has a plain name, none is test.each or test.only`).toBe(
      starts.length,
    );
    return calls.map((call) => (call[1] ?? call[2] ?? '').replace(/\\(.)/g, '$1'));
  });
}

/** Rows of the tables: | id | sentence | tests or reason |. */
function rows(): Row[] {
  const lines = read('README.md').split('\n');
  const cells = lines.filter((line) => /^\| (\d|L)/.test(line)).map((line) => line.split('|').slice(1, -1));
  return cells.map((row) => {
    expect(row, row.join('|')).toHaveLength(3);
    const [id = '', sentence = '', last = ''] = row.map((cell) => cell.trim());
    const why = last.startsWith(NOT_TESTED) ? last.slice(NOT_TESTED.length) : '';
    const tests = why === '' ? last.split('<br>').map((cell) => cell.trim().replace(/^`(.*)`$/, '$1')) : [];
    return { id, sentence, tests, why };
  });
}

test('the table lists each test of the suite', () => {
  const listed = new Set(rows().flatMap((row) => row.tests));
  expect(namesInCode().filter((name) => !listed.has(name))).toEqual([]);
});

test('each test that the table lists exists', () => {
  const existing = new Set(namesInCode());
  expect(rows().flatMap((row) => row.tests.filter((name) => !existing.has(name)))).toEqual([]);
});

test('each line of the table has tests or a reason', () => {
  for (const row of rows()) {
    expect(row.sentence, row.id).not.toBe('');
    expect(row.tests.filter((name) => name !== '').length > 0 || row.why.length > 10, row.id).toBe(true);
  }
});

test('no two tests and no two lines share a name', () => {
  const names = namesInCode();
  const ids = rows().map((row) => row.id);
  expect(names.filter((name, index) => names.indexOf(name) !== index)).toEqual([]);
  expect(ids.filter((id, index) => ids.indexOf(id) !== index)).toEqual([]);
});

test('each test is named after the section that lists it first', () => {
  const first = new Map<string, string>();
  for (const row of rows()) for (const name of row.tests) if (!first.has(name)) first.set(name, row.id);
  const section = (name: string): string => /^(live \w+|[\d.]+)/.exec(name)?.[1] ?? '';
  const sections = new Set(rows().map((row) => /^(L \w+|[\d.]+)/.exec(row.id)?.[1]?.replace('L ', 'live ')));
  expect(namesInCode().filter((name) => !sections.has(section(name)))).toEqual([]);
});

test('the table covers every section of the specification', () => {
  const ids = rows().map((row) => row.id);
  const sections = ['1', '2.1', '2.2', '2.3', '2.4', '3.1', '3.2', '3.3', '5', '6', '7', '8', '9'];
  const endpoints = ['4.1', '4.2', '4.3', '4.4', '4.5', '4.6', '4.7'];
  for (const section of [...sections, ...endpoints]) {
    expect(
      ids.some((id) => id.startsWith(`${section}-`)),
      section,
    ).toBe(true);
  }
});
