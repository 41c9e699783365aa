import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { foldersHaveNoCircles, importsHaveNoCircles } from './import-circles.ts';
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

describe('folders have no circles', () => {
  it('holds in this repository', () => {
    expect(foldersHaveNoCircles(TREE)).toEqual([]);
  });

  it('reports folders that import each other, over others too, and files beside them', () => {
    const three = [
      file('src/device/lane/a.ts', '../tokens/b.ts'),
      file('src/device/tokens/b.ts', '../desk/c.ts'),
      file('src/device/desk/d.ts', '../lane/a.ts'),
    ];
    expect(foldersHaveNoCircles(three)).toEqual([
      'src/device/desk and src/device/lane and src/device/tokens import each other',
    ]);
    const wiring = [file('src/backend/main.ts', './bill/a.ts'), file('src/backend/bill/a.ts', '../main.ts')];
    expect(foldersHaveNoCircles(wiring)).toEqual(['src/backend/* and src/backend/bill import each other']);
  });

  it('reports them below a feature, and in what is no feature', () => {
    const files = [
      file('src/device/lane/sound/a.ts', '../session/b.ts'),
      file('src/device/lane/session/b.ts'),
      file('src/device/lane/session/c.ts', '../sound/d.ts'),
      file('src/device/lane/sound/d.ts'),
      file('src/adapters/audio/child/a.ts', '../b.ts'),
      file('src/adapters/audio/c.ts', './child/a.ts'),
    ];
    expect(foldersHaveNoCircles(files).sort()).toEqual([
      'src/adapters/audio/* and src/adapters/audio/child import each other',
      'src/device/lane/session and src/device/lane/sound import each other',
    ]);
  });

  it('accepts what one folder takes from another, at every depth', () => {
    const one = [
      file('src/device/lane/a.ts', './session/b.ts', '../playout/d.ts'),
      file('src/device/lane/session/b.ts', '../state/c.ts'),
      file('src/device/lane/runner/e.ts', '../a.ts', '../state/c.ts'),
    ];
    expect(foldersHaveNoCircles(one)).toEqual([]);
  });
});
