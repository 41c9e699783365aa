import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { findPrograms } from '../../../src/cli/demo/find-programs.ts';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'dragoman-programs-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

const put = (path: string): string => {
  const file = join(folder, path);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, '');
  return file;
};

describe("the demo's other programs", () => {
  it('are found in the same folder when they were built', () => {
    const [emulator, backend] = [put('dist/emulator.mjs'), put('dist/backend.mjs')];
    expect(findPrograms(join(folder, 'dist'))).toEqual({ emulator, backend });
  });

  it('are found in the folders of their packages when those are installed', () => {
    const emulator = put('lib/dragoman-emulator/emulator.mjs');
    const backend = put('lib/dragoman-backend/backend.mjs');
    expect(findPrograms(join(folder, 'lib/dragoman'))).toEqual({ emulator, backend });
  });

  it('are asked for as packages when this program comes from a package', () => {
    const find = () => findPrograms(join(folder, 'lib/dragoman'));
    expect(find).toThrow(/install dragoman-emulator and dragoman-backend,.*"apt install /);
    put('lib/dragoman-backend/backend.mjs');
    expect(find).toThrow(/install dragoman-emulator, .*"apt install \.\/dragoman-emulator_\*\.deb"/);
  });

  it('are asked for as packages when this program is an update', () => {
    expect(() => findPrograms(join(folder, 'versions/0.2.0'))).toThrow(/install dragoman-emulator and/);
  });

  it('are asked for as a build when this program was built', () => {
    put('package.json');
    put('dist/backend.mjs');
    expect(() => findPrograms(join(folder, 'dist'))).toThrow(
      /^emulator\.mjs missing in .*dist: run "npm run build"/,
    );
  });
});
