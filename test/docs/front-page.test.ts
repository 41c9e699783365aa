import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { COMMAND_ARGS } from '../../src/protocol/mqtt/command.ts';

const page = (path: string): string => readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8');

describe('the front page', () => {
  it('has at most 150 lines', () => {
    expect(page('README.md').trimEnd().split('\n').length).toBeLessThanOrEqual(150);
  });

  it('leaves the commands to docs/mqtt.md, which names each', () => {
    for (const name of Object.keys(COMMAND_ARGS)) expect(page('docs/mqtt.md')).toContain(name);
  });
});
