import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { parseJsonc } from '../../../src/adapters/config/jsonc.ts';
import { formatProblem } from '../../../src/adapters/config/layer.ts';
import { loadConfig } from '../../../src/adapters/config/load.ts';
import { BURDENS, expectFirstHundred, PROBLEMS } from './burdens.ts';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'dragoman-bounds-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

describe('a configuration that is made to be a burden', () => {
  it.each(BURDENS)('is parsed to the end when it is megabytes of %s', (_what, make) => {
    expect(typeof parseJsonc(make(5_000_000)).ok).toBe('boolean');
  });

  it.each(PROBLEMS)(
    'with nothing but %s in its 1 MB gets its answer: the first hundred problems',
    (_what, make) => {
      const file = join(folder, 'config.json');
      writeFileSync(file, make());
      const result = loadConfig({ file, env: {} });
      expectFirstHundred(
        result.ok ? [] : result.problems.map((problem) => formatProblem(problem).replace(`${folder}/`, '')),
      );
    },
  );
});
