/** How large letters must be on the screen, and what fits on it. The page shares this file. */

/** Minimum angular height of a capital H (degrees), by EN 301 549, 5.1.4. */
const LEAST_DEGREES = 0.7;
/** Minimum height of a capital H as a share of the font size: Noto Sans has 0.71, DejaVu Sans 0.73. */
const CAPITAL_SHARE = 0.7;

export const SCREEN_LAYOUTS = ['one', 'beside', 'facing'] as const;
export type ScreenLayout = (typeof SCREEN_LAYOUTS)[number];

/** Height of the page in font sizes: two lines, the state and the buttons with the space between them; twice for people face to face. */
export const PAGE_EM: Readonly<Record<ScreenLayout, number>> = { one: 6.2, beside: 6.2, facing: 12 };

/** The smallest font size (mm) that is readable at a distance. */
export function leastLetterMm(viewingDistanceMm: number): number {
  const capital = 2 * viewingDistanceMm * Math.tan((LEAST_DEGREES / 2) * (Math.PI / 180));
  return capital / CAPITAL_SHARE;
}

/** The smallest height of a screen (mm) that has room for letters of that size. */
export function leastScreenMm(viewingDistanceMm: number, layout: ScreenLayout): number {
  return leastLetterMm(viewingDistanceMm) * PAGE_EM[layout];
}

/** Longest text that a visitor can type (characters). */
export const LONGEST_TYPED = 300;

/** The volumes between which visitors choose (percent): below the quietest, nothing is heard. */
export const VISITORS_VOLUME = { quietest: 10, loudest: 100 } as const;
