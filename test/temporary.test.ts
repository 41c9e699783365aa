import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { RUN_FOLDER } from './once-a-run.ts';
import { makeOwnFolder, removeAbandoned } from './setup/temporary.ts';

it('keeps all temporary folders of a run in one folder', () => {
  expect(process.env[RUN_FOLDER]).toMatch(/\/dragoman-tests-\d+-\w+$/);
  expect(tmpdir()).toBe(process.env[RUN_FOLDER]);
});

it('removes the folders of runs whose process is gone, and no others', () => {
  const place = mkdtempSync(join(tmpdir(), 'dragoman-temporary-'));
  const { pid: gone } = spawnSync('true');
  const own = makeOwnFolder(place);
  for (const name of [`dragoman-tests-${gone}-abcdef/tmp/deep`, 'dragoman-tests-older', `other-${gone}-a`])
    mkdirSync(join(place, name), { recursive: true });
  writeFileSync(join(place, `dragoman-tests-${gone}-abcdef/tmp/deep/file`), 'left');
  removeAbandoned(place);
  expect(
    readdirSync(place)
      .map((name) => join(place, name))
      .sort(),
  ).toEqual([own, join(place, 'dragoman-tests-older'), join(place, `other-${gone}-a`)].sort());
  rmSync(place, { recursive: true });
});
