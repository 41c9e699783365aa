import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { readTree } from '../tidy/source.ts';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const pages = readTree(ROOT).filter(({ path }) => path.endsWith('.md') && path !== 'CHANGELOG.md');
const { scripts } = JSON.parse(readFileSync(`${ROOT}package.json`, 'utf8')) as {
  scripts: Record<string, string>;
};
/** Verbs of each program, from the table on the front page. Another test compares that table with the programs. */
const readme = readFileSync(`${ROOT}README.md`, 'utf8');
const verbsOf = (program: string): string[] => {
  const row = readme.split('\n').find((line) => line.startsWith(`| \`${program}.mjs\` |`)) ?? '';
  return [...row.matchAll(/`([a-z-]+)[^`]*`/g)].map(([, verb = '']) => verb);
};

describe('commands in pages', () => {
  it('use only scripts of package.json', () => {
    const gone = pages.flatMap(({ path, text }) =>
      [...text.matchAll(/npm run ([a-z:]+)/g)].flatMap(([, name = '']) =>
        name in scripts ? [] : [`${path}: npm run ${name}`],
      ),
    );
    expect(gone).toEqual([]);
  });

  it('use only verbs of the programs', () => {
    const calls = pages.flatMap(({ path, text }) =>
      [...text.matchAll(/node (?:dist|\/opt\/dragoman)\/([a-z]+)\.mjs ([a-z-]+)/g)].map(
        ([, program = '', verb = '']) => ({
          path,
          program,
          verb,
        }),
      ),
    );
    expect(calls.length).toBeGreaterThan(10);
    expect(calls.filter(({ program, verb }) => !verbsOf(program).includes(verb))).toEqual([]);
  });
});
