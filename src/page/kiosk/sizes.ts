import { leastLetterMm, PAGE_EM, type ScreenLayout } from '../../protocol/screen-size.ts';

/** Letters per line to keep when letters are enlarged beyond the readable minimum. */
const LETTERS_A_LINE: Readonly<Record<ScreenLayout, number>> = { one: 42, beside: 24, facing: 42 };
/** Usual width of a letter as a share of the font size. */
const LETTER_SHARE = 0.5;

export interface ScreenSize {
  readonly layout: ScreenLayout;
  readonly viewingDistanceMm: number;
  readonly heightMm: number;
}

/** Narrowest column (letters) for a status text. */
const NARROWEST_COLUMN = 7;

/** The layout that there is room for: columns must be wide enough. */
export function layoutFor(size: ScreenSize, width: number, height: number): ScreenLayout {
  const column = width / 2 / letterPx(size, width, height);
  return size.layout === 'beside' && column < NARROWEST_COLUMN ? 'one' : size.layout;
}

/** Font size (px): readable at the distance, and larger where lines stay long enough. */
export function letterPx(
  { layout, viewingDistanceMm, heightMm }: ScreenSize,
  width: number,
  height: number,
): number {
  const least = (leastLetterMm(viewingDistanceMm) * height) / heightMm;
  const columns = layout === 'beside' ? 2 : 1;
  const roomy = width / columns / (LETTERS_A_LINE[layout] * LETTER_SHARE);
  return Math.max(least, Math.min(roomy, height / PAGE_EM[layout]));
}
