import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { featuresHaveNoCircles, importsHaveNoCircles } from './import-circles.ts';
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
    const two = [file('src/device/a.ts', './b.ts'), file('src/device/b.ts', './a.ts')];
    expect(importsHaveNoCircles(two)).toEqual(['src/device/a.ts and src/device/b.ts import each other']);
    const three = [
      file('src/device/a.ts', './b.ts'),
      file('src/device/b.ts', './c.ts', './d.ts'),
      file('src/device/c.ts', './a.ts'),
      file('src/device/d.ts'),
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
    const tests = [file('test/device/a.ts', '../b.ts'), file('test/b.ts', './device/a.ts')];
    expect(importsHaveNoCircles(tests)).toEqual(['test/b.ts and test/device/a.ts import each other']);
  });

  it('accepts a diamond', () => {
    const diamond = [
      file('src/device/a.ts', './b.ts', './c.ts'),
      file('src/device/b.ts', './d.ts'),
      file('src/device/c.ts', './d.ts'),
      file('src/device/d.ts'),
    ];
    expect(importsHaveNoCircles(diamond)).toEqual([]);
  });
});

describe('features have no circles', () => {
  it('holds in this repository', () => {
    expect(featuresHaveNoCircles(TREE)).toEqual([]);
  });

  it('reports features that import each other, over others too, and files beside them', () => {
    const three = [
      file('src/device/lane/a.ts', '../tokens/b.ts'),
      file('src/device/tokens/b.ts', '../desk/c.ts'),
      file('src/device/desk/d.ts', '../lane/a.ts'),
    ];
    expect(featuresHaveNoCircles(three)).toEqual([
      'src/device/desk and src/device/lane and src/device/tokens import each other',
    ]);
    const wiring = [file('src/backend/main.ts', './bill/a.ts'), file('src/backend/bill/a.ts', '../main.ts')];
    expect(featuresHaveNoCircles(wiring)).toEqual(['src/backend and src/backend/bill import each other']);
  });

  it('accepts what one feature takes from another, and circles of folders within one', () => {
    const one = [
      file('src/device/lane/a.ts', './session/b.ts', '../playout/d.ts'),
      file('src/device/lane/session/b.ts', '../c.ts'),
    ];
    expect(featuresHaveNoCircles(one)).toEqual([]);
  });
});
