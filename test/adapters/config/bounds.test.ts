import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { parseJsonc } from '../../../src/adapters/config/jsonc.ts';
import { formatProblem } from '../../../src/adapters/config/layer.ts';
import { loadConfig } from '../../../src/adapters/config/load.ts';

let folder: string;
let file: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'dragoman-bounds-'));
  file = join(folder, 'config.json');
});
afterEach(() => rmSync(folder, { recursive: true }));

const problems = (): string[] => {
  const result = loadConfig({ file, env: {} });
  return result.ok ? [] : result.problems.map((problem) => formatProblem(problem).replace(`${folder}/`, ''));
};
const times = (count: number, part: (index: number) => string): string =>
  Array.from({ length: count }, (_, index) => part(index)).join(',');

function makePipe(): string {
  execFileSync('mkfifo', [file]);
  return file;
}

describe('a configuration that is made to be a burden', () => {
  it('is read up to 1 MB and not beyond', () => {
    writeFileSync(file, `${' '.repeat(1_000_000)}{}`);
    expect(problems()).toEqual(['config.json: cannot be read: it is larger than 1 MB']);
    writeFileSync(file, `${' '.repeat(999_998)}{}`);
    expect(problems()[0]).toMatch(/^config\.json:1:999999: device: is missing/);
  });

  it.each([
    ['a device without an end', () => '/dev/zero'],
    ['a named pipe that nobody writes to', () => makePipe()],
  ])('is not read from %s', (_what, make) => {
    const result = loadConfig({ file: make(), env: {} });
    expect(result).toMatchObject({
      ok: false,
      problems: [{ message: 'cannot be read: it is not a regular file' }],
    });
  });

  it('takes no more than 64 files of conf.d', () => {
    mkdirSync(join(folder, 'conf.d'));
    for (let index = 0; index < 65; index += 1) writeFileSync(join(folder, 'conf.d', `${index}.json`), '{}');
    writeFileSync(file, '{}');
    expect(problems()[0]).toBe('conf.d: holds 65 files; at most 64 are read');
  });

  // A reader that takes stack or time for what it has read already does not come to an end here.
  it.each([
    ['50 MB of blanks', () => ' '.repeat(50_000_000)],
    ['5 MB of line breaks', () => '\n'.repeat(5_000_000)],
    ['comments', () => '/**/'.repeat(1_000_000)],
    ['a comment of 5 MB', () => `/*${'*'.repeat(5_000_000)}`],
    ['a text of 5 MB', () => `"${'x'.repeat(5_000_000)}`],
    ['backslashes', () => `"${'\\\\'.repeat(2_000_000)}"`],
    ['a number of 5 MB', () => '1'.repeat(5_000_000)],
    ['half a million levels', () => '['.repeat(500_000)],
    ['a long key above a long list', () => `{"${'x'.repeat(500_000)}":[${times(240_000, () => '1')}]}`],
  ])('is parsed to the end when it is %s', (_what, make) => {
    expect(typeof parseJsonc(make()).ok).toBe('boolean');
  });

  it.each([
    ['keys', () => `{${times(60_000, (index) => `"key${index}":${index}`)}}`],
    ['keys on lines of their own', () => `{${times(60_000, (index) => `\n"key${index}":1`)}}`],
    ['keys of the broker', () => `{"mqtt":{${times(60_000, (index) => `"key${index}":1`)}}}`],
    ['lanes', () => `{"lanes":[${times(300_000, () => '{}')}]}`],
    ['lanes with ids', () => `{"lanes":[${times(60_000, (index) => `{"id":"a${index}"}`)}]}`],
    ['languages', () => `{"lanes":[{"targets":[${times(190_000, () => '"es"')}]}]}`],
  ])('with nothing but %s in its 1 MB gets its answer: the first hundred problems', (_what, make) => {
    writeFileSync(file, make());
    const found = problems();
    expect(found.length).toBeGreaterThan(0);
    expect(found.length).toBeLessThanOrEqual(101);
    expect(found.join('\n').length).toBeLessThan(40_000);
  });
});
