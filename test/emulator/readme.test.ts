import { readFile } from 'node:fs/promises';
import { expect, test } from 'vitest';
import { parseFaults } from '../../src/emulator/core/fault.ts';
import { DEFAULT_API_KEY, DEFAULT_JWT } from '../../src/emulator/server.ts';

const README = await readFile(new URL('../../src/emulator/README.md', import.meta.url), 'utf8');
const examples = (/```json faults\n([\s\S]*?)```/.exec(README)?.[1] ?? '').trim().split('\n');

test.each(examples)('accepts the example %s as a fault', (line) => {
  const parsed = parseFaults(JSON.parse(line));
  expect(parsed.ok ? [] : parsed.issues).toEqual([]);
});

test('has an example for every kind of fault', async () => {
  const source = await readFile(new URL('../../src/emulator/core/fault.ts', import.meta.url), 'utf8');
  const kinds = [...source.matchAll(/kind: z\.literal\('(\w+)'\)/g)].map(([, kind]) => kind);
  const shown = examples.map((line) => (JSON.parse(line) as { kind: string }).kind);
  expect(kinds.length).toBeGreaterThan(20);
  expect(new Set(shown)).toEqual(new Set(kinds));
});

test('names the default credentials', () => {
  expect(README).toContain(`\`${DEFAULT_API_KEY}\``);
  expect(README).toContain(`\`${DEFAULT_JWT}\``);
});
