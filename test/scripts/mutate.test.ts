import { describe, expect, it } from 'vitest';
import { nearestTests } from '../../scripts/mutate/nearest-tests.ts';
import { drawSample, partOf } from '../../scripts/mutate/parts.ts';
import { seededRandom } from '../../src/core/random.ts';

const file = (path: string, ...imports: string[]) => ({
  path,
  text: imports.map((one) => `import { a } from '${one}';\n`).join(''),
});

describe('the tests of a mutant', () => {
  const nearest = nearestTests([
    file('src/backend/bill.ts'),
    file('src/backend/main.ts', './bill.ts'),
    file('src/device/lane/turn.ts'),
    file('src/page/kiosk/main.tsx'),
    { path: 'src/backend/types.ts', text: "import type { A } from './bill.ts';" },
    file('test/backend/types.test.ts', '../../src/backend/types.ts'),
    file('test/backend/bill.test.ts', '../../src/backend/bill.ts'),
    file('test/backend/cli.test.ts', '../../src/backend/main.ts'),
    file('test/backend/bill.long.test.ts', '../../src/backend/bill.ts'),
    file('test/device/lane/turn.test.ts', '../../../src/device/lane/turn.ts'),
    file('test/whole-machine/scenarios/turn.test.ts', '../../../src/device/lane/turn.ts'),
    file('test/bundles.ts'),
    file('test/build/start.test.ts', '../bundles.ts'),
    file('test/screen/browser.ts'),
    file('test/screen/bar.test.ts', './browser.ts'),
  ]);

  it('begin with the nearest and end with those that start bundles', () => {
    expect(nearest('src/backend/bill.ts')).toEqual([
      'test/backend/bill.test.ts',
      'test/backend/cli.test.ts',
      'test/build/start.test.ts',
    ]);
  });

  it('are in any folder of the device, and none that needs a whole machine', () => {
    expect(nearest('src/device/lane/turn.ts')).toEqual(['test/device/lane/turn.test.ts']);
  });

  it('are those of the browser when only its page has the source', () => {
    expect(nearest('src/page/kiosk/main.tsx')).toEqual(['test/screen/bar.test.ts']);
  });
});

describe('a sample', () => {
  const mutants = ['src/backend/bill/bill.ts', 'src/page/kiosk/bar.tsx'].flatMap((path) =>
    Array.from({ length: 300 }, (_, index) => ({ file: path, index })),
  );
  const weights = new Map([
    ['bill', 3],
    ['page', 1],
  ]);

  it('draws each part by its weight, and nothing twice', () => {
    const drawn = drawSample(mutants, 200, weights, seededRandom(1));
    expect(new Set(drawn).size).toBe(200);
    const bills = drawn.filter((one) => partOf(one.file) === 'bill').length;
    expect(bills).toBeGreaterThan(130);
    expect(bills).toBeLessThan(170);
  });

  it('is the same for the same seed, and another for another', () => {
    const draw = (seed: number) => drawSample(mutants, 20, weights, seededRandom(seed));
    expect(draw(7)).toEqual(draw(7));
    expect(draw(8)).not.toEqual(draw(7));
  });

  it('draws all when there are fewer', () => {
    expect(drawSample(mutants, 1000, weights, seededRandom(1))).toHaveLength(600);
  });
});
