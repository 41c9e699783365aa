import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { COMMANDS } from '../../src/protocol/mqtt/commands/registry.ts';

const page = (path: string): string => readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8');

describe('the front page', () => {
  it('has at most 150 lines', () => {
    expect(page('README.md').trimEnd().split('\n').length).toBeLessThanOrEqual(150);
  });

  it('wraps prose at 80 columns, except tables, pictures and diagrams', () => {
    const prose = page('README.md').replace(/^```[\s\S]*?^```/gm, '');
    const long = prose.split('\n').filter((line) => line.length > 80 && !/^[|!]/.test(line));
    expect(long).toEqual([]);
  });

  it('links every page of docs/ and of the root folder', () => {
    const pages = readdirSync(new URL('../../docs/', import.meta.url)).filter((file) => file.endsWith('.md'));
    for (const file of pages) expect(page('README.md')).toContain(`](docs/${file})`);
    for (const file of ['CONTRIBUTING', 'SECURITY', 'CHANGELOG'])
      expect(page('README.md')).toContain(`](${file}.md)`);
  });

  it('leaves each command to docs/mqtt.md', () => {
    for (const name of Object.keys(COMMANDS)) expect(page('docs/mqtt.md')).toContain(name);
  });
});
