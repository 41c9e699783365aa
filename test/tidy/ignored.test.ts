import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { needs } from '../needs.ts';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
/** Arguments of the pages' lines that name a folder for logins and keys. */
const MAKES = [
  / broker init (\S+)/g,
  / devices template (\S+)/g,
  /^mkdir -p (\S+) && cp -r museum\/logins/gm,
  /^ *mv museum\/logins\/\S+ (\S+) && cd/gm,
];

const hasGit = spawnSync('git', ['--version']).status === 0;
it(
  'git ignores the folders in which the lines of the pages put logins and keys',
  needs(!hasGit && 'needs git'),
  () => {
    const pages = ['fleet', 'install']
      .map((page) => readFileSync(join(ROOT, `docs/${page}.md`), 'utf8'))
      .join('\n');
    const folders = MAKES.flatMap((pattern) => [...pages.matchAll(pattern)].map(([, name = '']) => name));
    expect(new Set(folders).size).toBeGreaterThanOrEqual(5);
    for (const folder of folders.filter((name) => /^[a-z-]+$/.test(name))) {
      const { status } = spawnSync('git', ['check-ignore', '-q', '--no-index', `${folder}/a.key`], {
        cwd: ROOT,
      });
      expect({ folder, status }).toEqual({ folder, status: 0 });
    }
  },
);
