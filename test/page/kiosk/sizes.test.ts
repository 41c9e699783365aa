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

describe('large letters', () => {
  const large = (layout: 'one' | 'beside' | 'facing', width: number, height: number, heightMm = 150) => {
    const { large: letters, ...usual } = sizesFor({ ...kiosk, layout, heightMm }, width, height);
    return { letters, usual };
  };

  it('are half as large again, and the words on buttons a quarter, where there is room', () => {
    const { letters, usual } = large('one', 1280, 800);
    expect(letters?.letter).toBeCloseTo(1.5 * usual.letter);
    expect(letters?.least).toBe(usual.least);
    expect(letters?.small).toBeCloseTo(1.25 * usual.small);
  });

  it('leave two lines of captions, and a column for a word, before they leave words on buttons larger', () => {
    const low = large('facing', 1280, 800);
    expect(low.letters?.letter).toBeCloseTo((400 - 5.5 * low.usual.small) / (2 * LINE_HEIGHT));
    expect(low.letters?.small).toBe(low.usual.small);
    const narrow = large('beside', 760, 640);
    expect(narrow.letters?.letter).toBeCloseTo(380 / 5.5);
  });

  it('are not offered where letters could not grow by a tenth', () => {
    expect(large('facing', 1024, 600, 147).letters).toBeNull();
    expect(large('facing', 1024, 600, 170).letters).not.toBeNull();
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
