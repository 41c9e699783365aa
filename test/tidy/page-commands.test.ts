import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { ENTRIES, entryOf } from './command-lines.ts';
import { commandsOf, shellLines } from './page-commands.ts';
import { readTree } from './source.ts';

const TREE = readTree(fileURLToPath(new URL('../../', import.meta.url)));
const texts = new Map(TREE.map(({ path, text }) => [path, text]));
const commands = TREE.filter(
  ({ path }) => /\.md$|^config\/.*\.jsonc$/.test(path) && path !== 'CHANGELOG.md',
).flatMap(({ path, text }) => commandsOf(path, text));

describe('a command line of a page', () => {
  it('is run by a test, or listed as not run with its reason', () => {
    expect(commands.length).toBeGreaterThan(100);
    expect(
      commands.filter((one) => entryOf(one) === undefined).map(({ page, line }) => `${page}: ${line}`),
    ).toEqual([]);
  });

  it('is named or read by its test', () => {
    const unproved = commands.flatMap((one) => {
      const entry = entryOf(one);
      if (entry === undefined || 'notRun' in entry) return [];
      const proof = typeof entry.as === 'string' ? entry.as : entry.as(one.line);
      const text = texts.get(entry.ranBy);
      return text?.includes(proof) ? [] : [`${one.page}: ${one.line}: ${entry.ranBy} has no ${proof}`];
    });
    expect(unproved).toEqual([]);
  });

  it('still exists for each entry of the list', () => {
    const used = new Set(commands.map(entryOf));
    expect(ENTRIES.filter((entry) => !used.has(entry))).toEqual([]);
  });
});

it('finds each command of a block', () => {
  const block = ['# a comment', 'one \\', '  two   # why', '', "cat > f <<'END'", 'not this', 'END', 'a#b'];
  expect(shellLines(block)).toEqual(['one two', "cat > f <<'END'", 'a#b']);
  expect(shellLines(['$ asked', 'answered'])).toEqual(['asked']);
});

it('finds the commands of configurations in pages and comments', () => {
  const line = '// {"driver": "command", "command": ["sox", "-"]} records';
  expect(commandsOf('a.jsonc', line)).toEqual([
    { page: 'a.jsonc', heading: '', line: 'sox -', words: ['sox', '-'] },
  ]);
});
