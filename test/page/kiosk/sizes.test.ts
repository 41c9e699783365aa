import { describe, expect, it } from 'vitest';
import { LINE_HEIGHT, sizesFor } from '../../../src/page/kiosk/sizes.ts';
import { leastLetterMm, SCREEN_LAYOUTS } from '../../../src/protocol/screen-size.ts';

const kiosk = { viewingDistanceMm: 700, heightMm: 150 } as const;
/** The smallest readable letter of that kiosk on a screen of this height (px). */
const least = (height: number): number => (leastLetterMm(700) * height) / 150;

describe('the letters', () => {
  it.each(SCREEN_LAYOUTS)('are never below the readable size in the layout %s', (layout) => {
    for (const [width, height] of [
      [400, 1280],
      [800, 480],
      [1920, 1080],
    ] as const)
      expect(sizesFor({ ...kiosk, layout }, width, height).letter).toBeGreaterThanOrEqual(least(height));
  });

  it('are the largest with which 80 letters leave a quarter of the captions free', () => {
    const near = { layout: 'beside', viewingDistanceMm: 300, heightMm: 300 } as const;
    const { letter, small } = sizesFor(near, 1280, 800);
    const [width, height] = [1280 / 2 - 2 * small, 800 - 5 * small];
    const heightOf = (size: number): number => Math.ceil((80 * 0.58 * size) / width) * size * LINE_HEIGHT;
    expect(heightOf(letter)).toBeLessThanOrEqual(0.75 * height);
    expect(heightOf(letter + 1)).toBeGreaterThan(0.75 * height);
  });

  it('do not grow without end on a screen that is far wider than high', () => {
    expect(sizesFor({ ...kiosk, layout: 'one' }, 9000, 1000).letter).toBeCloseTo(120);
    expect(sizesFor({ ...kiosk, layout: 'facing', heightMm: 400 }, 9000, 1000).letter).toBeCloseTo(60);
  });
});

describe('the layout', () => {
  it('is one panel where columns beside each other are narrower than a few words', () => {
    const wanted = { ...kiosk, layout: 'beside' } as const;
    const width = 2 * 7 * least(720);
    const layoutOf = (wide: number) => sizesFor(wanted, wide, 720).layout;
    expect([layoutOf(width + 2), layoutOf(width - 2)]).toEqual(['beside', 'one']);
  });

  it('is two panels one above the other on a screen that is higher than wide', () => {
    expect(sizesFor({ ...kiosk, layout: 'beside' }, 600, 1024).layout).toBe('stacked');
    expect(sizesFor({ ...kiosk, layout: 'one' }, 600, 1024).layout).toBe('one');
    expect(sizesFor({ ...kiosk, layout: 'facing' }, 390, 844).layout).toBe('facing');
  });
});

it('gives a choice 15 mm of height', () => {
  expect(sizesFor({ ...kiosk, layout: 'one' }, 800, 500).target).toBeCloseTo(50);
});
