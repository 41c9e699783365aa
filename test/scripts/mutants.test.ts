import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { MUTANTS } from '../../scripts/mutants/index.mjs';

describe('the known ways to break the core', () => {
  it('have names of their own', () => {
    expect(new Set(MUTANTS.map(({ name }) => name)).size).toBe(MUTANTS.length);
    expect(MUTANTS.length).toBeGreaterThanOrEqual(30);
  });

  it.each(MUTANTS.map((mutant) => [mutant.name, mutant] as const))('%s still has its place', (_, mutant) => {
    const text = readFileSync(join('src/core', mutant.file), 'utf8');
    expect(text.split(mutant.find)).toHaveLength(2);
    expect(mutant.replace).not.toBe(mutant.find);
    for (const test of mutant.tests) expect(existsSync(join('test/core', test))).toBe(true);
  });
});
