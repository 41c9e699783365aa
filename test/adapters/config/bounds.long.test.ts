import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { parseJsonc } from '../../../src/adapters/config/jsonc.ts';
import { formatProblem } from '../../../src/adapters/config/layer.ts';
import { loadConfig } from '../../../src/adapters/config/load.ts';
import { BURDENS, expectFirstHundred, PROBLEMS } from './hostile-configs.ts';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'dragoman-bounds-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

describe('a hostile configuration', () => {
  it.each(BURDENS)('is parsed to the end when it has megabytes of %s', (_what, make) => {
    expect(typeof parseJsonc(make(5_000_000)).ok).toBe('boolean');
  });

  it.each(PROBLEMS)(
    'reports the first hundred problems when its 1 MB holds nothing but %s',
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
