import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { README_PARTS, refreshReadme } from '../scripts/readme-parts.ts';
import { PHASE_NAMES } from '../src/core/lane/phases.ts';
import { COMMAND_ARGS } from '../src/protocol/mqtt/command.ts';

const readme = readFileSync(new URL('../README.md', import.meta.url), 'utf8');

describe('the README', () => {
  it('holds the diagram and the tables that the code gives; "npm run generate" brings them up to date', () => {
    expect(refreshReadme(readme)).toBe(readme);
  });

  it('would be found out of date after a change', () => {
    expect(refreshReadme(readme.replace('idle --> acquiring', 'idle --> live'))).toBe(readme);
    expect(() => refreshReadme('no markers')).toThrow('lane-states');
  });

  it('draws every phase of a lane', () => {
    const diagram = README_PARTS['lane-states']?.() ?? '';
    for (const phase of PHASE_NAMES) expect(diagram).toContain(phase);
  });

  it('names every command', () => {
    for (const name of Object.keys(COMMAND_ARGS)) expect(readme).toContain(name);
  });
});
