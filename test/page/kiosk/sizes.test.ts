import { describe, expect, it } from 'vitest';
import { layoutFor, letterPx } from '../../../src/page/kiosk/sizes.ts';
import { leastLetterMm, PAGE_EM, SCREEN_LAYOUTS } from '../../../src/protocol/screen-size.ts';

const kiosk = { viewingDistanceMm: 700, heightMm: 150 } as const;
/** The smallest readable letter of that kiosk on a screen of this height (px). */
const least = (height: number): number => (leastLetterMm(700) * height) / 150;

describe('the letters', () => {
  it.each(SCREEN_LAYOUTS)(
    'are readable in the layout %s, and no larger than their lines and the page admit',
    (layout) => {
      const of = (width: number, height: number): number => letterPx({ ...kiosk, layout }, width, height);
      expect(of(400, 1280)).toBe(least(1280));
      // Far wider than high: the page's height is the limit.
      expect(of(9000, 720)).toBe(720 / PAGE_EM[layout]);
    },
  );

  it('grow with the width of their column while a line keeps enough of them', () => {
    const near = { viewingDistanceMm: 300, heightMm: 300 } as const;
    expect(letterPx({ ...near, layout: 'one' }, 840, 2000)).toBe(40);
    expect(letterPx({ ...near, layout: 'beside' }, 960, 2000)).toBe(40);
  });
});

describe('the layout', () => {
  it('is one panel where columns beside each other are narrower than a status', () => {
    const wanted = { ...kiosk, layout: 'beside' } as const;
    const width = 2 * 7 * least(720);
    expect([layoutFor(wanted, width + 2, 720), layoutFor(wanted, width - 2, 720)]).toEqual(['beside', 'one']);
    expect(layoutFor({ ...kiosk, layout: 'facing' }, 390, 844)).toBe('facing');
  });
});
