import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { parseJsonc } from '../../../src/adapters/config/jsonc.ts';
import { formatProblem } from '../../../src/adapters/config/layer.ts';
import { loadConfig } from '../../../src/adapters/config/load.ts';
import { BURDENS, expectFirstHundred, PROBLEMS } from './hostile-configs.ts';

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
function makePipe(): string {
  execFileSync('mkfifo', [file]);
  return file;
}

describe('a hostile configuration', () => {
  it('is read only up to 1 MB', () => {
    writeFileSync(file, `${' '.repeat(1_000_000)}{}`);
    expect(problems()).toEqual(['config.json: cannot be read: it is larger than 1 MB']);
    writeFileSync(file, `${' '.repeat(999_998)}{}`);
    expect(problems()[0]).toMatch(/^config\.json:1:999999: device: is missing/);
  });

  it.each([
    ['a device without an end', () => '/dev/zero'],
    ['a named pipe without a writer', () => makePipe()],
  ])('is not read from %s', (_what, make) => {
    const result = loadConfig({ file: make(), env: {} });
    expect(result).toMatchObject({
      ok: false,
      problems: [{ message: 'cannot be read: it is not a regular file' }],
    });
  });

  it('is read from at most 64 files of conf.d', () => {
    mkdirSync(join(folder, 'conf.d'));
    for (let index = 0; index < 65; index += 1) writeFileSync(join(folder, 'conf.d', `${index}.json`), '{}');
    writeFileSync(file, '{}');
    expect(problems()[0]).toBe('conf.d: holds 65 files; at most 64 are read');
  });

  // A parser whose stack use or time grows with its input does not finish here, nor in `bounds.long.test.ts`.
  it.each(BURDENS)('is parsed to the end when it is %s', (_what, make) => {
    expect(typeof parseJsonc(make(1_000_000)).ok).toBe('boolean');
  });

  it.each(PROBLEMS.filter(([what]) => ['keys', 'lanes with ids', 'languages'].includes(what)))(
    'reports the first hundred problems when its 1 MB holds nothing but %s',
    (_what, make) => {
      writeFileSync(file, make());
      expectFirstHundred(problems());
    },
  );
});
