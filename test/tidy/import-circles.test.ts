import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { importsHaveNoCircles } from './import-circles.ts';
import { readTree, type SourceFile } from './source.ts';

const TREE = readTree(fileURLToPath(new URL('../../', import.meta.url)));
const file = (path: string, ...targets: string[]): SourceFile => ({
  path,
  text: targets.map((target) => `import type { X } from '${target}';\n`).join(''),
});

describe('imports have no circles', () => {
  it('holds in this repository', () => {
    expect(importsHaveNoCircles(TREE)).toEqual([]);
  });

  it('reports circles of two and of three files, types included', () => {
    const two = [file('src/agent/a.ts', './b.ts'), file('src/agent/b.ts', './a.ts')];
    expect(importsHaveNoCircles(two)).toEqual(['src/agent/a.ts and src/agent/b.ts import each other']);
    const three = [
      file('src/agent/a.ts', './b.ts'),
      file('src/agent/b.ts', './c.ts', './d.ts'),
      file('src/agent/c.ts', './a.ts'),
      file('src/agent/d.ts'),
    ];
    expect(importsHaveNoCircles(three)).toHaveLength(1);
  });

  it('reports circles of components and of tests', () => {
    const components = [
      file('src/page/kiosk/a.tsx', './b.tsx'),
      file('src/page/kiosk/b.tsx', './c.ts'),
      file('src/page/kiosk/c.ts', './a.tsx'),
    ];
    expect(importsHaveNoCircles(components)).toHaveLength(1);
    const tests = [file('test/agent/a.ts', '../b.ts'), file('test/b.ts', './agent/a.ts')];
    expect(importsHaveNoCircles(tests)).toEqual(['test/agent/a.ts and test/b.ts import each other']);
  });

  it('accepts a diamond', () => {
    const diamond = [
      file('src/agent/a.ts', './b.ts', './c.ts'),
      file('src/agent/b.ts', './d.ts'),
      file('src/agent/c.ts', './d.ts'),
      file('src/agent/d.ts'),
    ];
    expect(importsHaveNoCircles(diamond)).toEqual([]);
  });
});
