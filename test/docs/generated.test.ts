import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { GENERATED_PARTS, refreshPage } from '../../scripts/docs/parts.ts';
import { PHASE_NAMES } from '../../src/protocol/phases.ts';

const page = (path: string): string => readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8');

describe('the generated parts of the documentation', () => {
  it.each(Object.keys(GENERATED_PARTS))(
    'are current in %s; "npm run generate" brings them up to date',
    (path) => {
      expect(refreshPage(path, page(path))).toBe(page(path));
    },
  );

  it('differ from the page when the page was changed', () => {
    const lane = page('docs/lane.md');
    expect(refreshPage('docs/lane.md', lane.replace('idle --> acquiring', 'idle --> live'))).toBe(lane);
    expect(() => refreshPage('docs/lane.md', 'no markers')).toThrow('lane-phases');
  });

  it('show every phase of a lane', () => {
    const table = GENERATED_PARTS['docs/lane.md']?.['lane-phases']?.() ?? '';
    for (const phase of PHASE_NAMES) expect(table).toContain(`\n| \`${phase}\` | `);
  });

  it('draw fewer than 30 arrows, each with a label', () => {
    const diagram = GENERATED_PARTS['docs/lane.md']?.['lane-states']?.() ?? '';
    const arrows = diagram.split('\n').filter((line) => line.includes('-->'));
    expect(arrows.length).toBeLessThan(30);
    expect(arrows.filter((line) => !/(\[\*\] --> idle|: .+)$/.test(line))).toEqual([]);
  });
});
