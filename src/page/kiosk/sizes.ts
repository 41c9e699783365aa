import { leastLetterMm, type ScreenLayout } from '../../protocol/screen-size.ts';
import type { Look } from './looks.ts';

/** A usual sentence (letters): one of this length is on the panel as a whole wherever letters of a legal size allow it. */
const SENTENCE_LETTERS = 80;
/** Usual width of a letter as a share of the font size, with what is left free at the ends of lines. */
const LETTER_SHARE = 0.58;
/** Height of a line in font sizes, as in page.css. */
export const LINE_HEIGHT = 1.25;
/** Share of the panel's captions that a usual sentence fills: the rest shows the sentence before it. */
const SENTENCE_SHARE = 0.75;
/** Largest letters, as a share of the height of a panel. */
const LARGEST_SHARE = 0.12;
/** Words on buttons and in the status line, beside signs, as a share of the least letter of captions. */
const SMALL_SHARE = 0.6;
/** Height of what is not captions in a panel, in small letters: the status line and the buttons. */
const FRAME_SMALL = 5;
/** Narrowest column (letters) for captions. */
const NARROWEST_COLUMN = 7;
/** How much larger letters become for readers who choose large ones, if there is room. */
const LARGER = { captions: 1.5, buttons: 1.25 } as const;
/** Narrowest column (letters) for large captions. */
const LARGE_COLUMN = 5.5;
/** `FRAME_SMALL` with the space between the parts: large captions have no line to spare. */
const LARGE_FRAME_SMALL = 5.5;
/** Larger letters than the usual ones by less than this are no choice. */
const LEAST_LARGER = 1.1;
/** Fewest lines of large captions. The words on buttons grow only if more of them stay. */
const LARGE_LINES = { captions: 2, buttons: 3 } as const;
/** Smallest button to choose a language (mm). */
const TARGET_MM = 15;

export interface ScreenSize {
  readonly layout: ScreenLayout;
  readonly viewingDistanceMm: number;
  readonly heightMm: number;
}

/** How panels stand: `stacked` one above the other, for a screen that is higher than wide. */
export type PanelLayout = ScreenLayout | 'stacked';

/** Sizes of letters in px. */
export interface Letters {
  /** Captions. */
  readonly letter: number;
  /** The smallest that is readable at the distance. */
  readonly least: number;
  /** Buttons and status. */
  readonly small: number;
}

/** Sizes in px. */
export interface Sizes extends Letters {
  readonly layout: PanelLayout;
  /** For readers who choose large letters; null: there is no room for larger ones. */
  readonly large: Letters | null;
  /** Smallest height of a button to choose from. */
  readonly target: number;
}

/** Letters are never below the size that is readable at the distance, and larger where a usual sentence still fits. */
export function sizesFor(size: ScreenSize, width: number, height: number): Sizes {
  const least = (leastLetterMm(size.viewingDistanceMm) * height) / size.heightMm;
  const layout = layoutFor(size.layout, least, width, height);
  const small = Math.max(least * SMALL_SHARE, height / 32);
  const columns = layout === 'beside' ? 2 : 1;
  const halves = layout === 'stacked' || layout === 'facing' ? 2 : 1;
  const room = { width: width / columns - 2 * small, height: height / halves - FRAME_SMALL * small };
  let letter = Math.max(least, (height / halves) * LARGEST_SHARE);
  while (letter > least && !fits(letter, room)) letter = Math.max(least, letter - 1);
  const panel = { width: width / columns, height: height / halves };
  const large = largeLetters({ letter, least, small }, panel);
  return { layout, letter, least, small, large, target: (TARGET_MM * height) / size.heightMm };
}

/** Larger letters of captions come first; then the words on buttons take what room is left. */
function largeLetters(
  { letter, least, small }: Letters,
  { width, height }: { width: number; height: number },
): Letters | null {
  const roomy = (height - LARGE_FRAME_SMALL * small) / (LARGE_LINES.captions * LINE_HEIGHT);
  const larger = Math.max(1, Math.min(LARGER.captions, width / LARGE_COLUMN / letter, roomy / letter));
  const left = height - LARGE_LINES.buttons * LINE_HEIGHT * letter * larger;
  const wider = Math.max(1, Math.min(LARGER.buttons, left / (LARGE_FRAME_SMALL * small)));
  if (larger < LEAST_LARGER) return null;
  // What to do in trouble has to be whole.
  return { letter: letter * larger, least, small: small * wider };
}

function layoutFor(wanted: ScreenLayout, least: number, width: number, height: number): PanelLayout {
  if (wanted !== 'beside') return wanted;
  if (height > width) return 'stacked';
  return width / 2 / least < NARROWEST_COLUMN ? 'one' : 'beside';
}

function fits(letter: number, { width, height }: { width: number; height: number }): boolean {
  const lines = Math.ceil((SENTENCE_LETTERS * LETTER_SHARE * letter) / width);
  return lines * letter * LINE_HEIGHT <= height * SENTENCE_SHARE;
}

export const lettersOf = ({ isLarge }: Look, sizes: Sizes): Letters =>
  (isLarge ? sizes.large : null) ?? sizes;

/** The sizes as page.css knows them. */
export const letterStyle = ({ letter, least, small }: Letters) => ({
  '--letter': `${letter}px`,
  '--least': `${least}px`,
  '--small': `${small}px`,
});
