import type { RefObject } from 'preact';
import { useLayoutEffect, useRef } from 'preact/hooks';
import { LINE_HEIGHT } from './sizes.ts';

/** What the buttons of a row can show, best first; page.css defines each name. */
const LOOKS = [
  { shows: 'all', scale: 1 },
  { shows: 'all', scale: 0.85 },
  { shows: 'all', scale: 0.7 },
  // Two rows.
  { shows: 'rows', scale: 1 },
  { shows: 'rows', scale: 0.85 },
  { shows: 'rows', scale: 0.7 },
  // Two lower rows, which together need the room of one.
  { shows: 'signs', scale: 1 },
  { shows: 'signs', scale: 0.85 },
  { shows: 'signs', scale: 0.7 },
  // Only for screens smaller than any kiosk's: these letters are too small for the viewing distance.
  { shows: 'signs', scale: 0.5 },
] as const;

/** For readers of large letters: the largest words first, also in two rows. Words come before signs. */
const LARGE_LOOKS = LOOKS.toSorted(
  (one, other) => Number(one.shows === 'signs') - Number(other.shows === 'signs') || other.scale - one.scale,
);

/** Gives a row of buttons the first look that fits, whatever the language and the size of the screen. */
export function useFittingLook<T extends HTMLElement>(isLarge: boolean): RefObject<T | null> {
  const ref = useRef<T>(null);
  const measured = useRef('');
  // After each render, because words and screen size may have changed. To try the looks takes the browser many times as long as
  // to see that nothing has.
  useLayoutEffect(() => {
    const bar = ref.current;
    if (bar === null) return;
    const now = `${isLarge} ${bar.textContent} ${bar.clientWidth} ${bar.offsetHeight + bodyHeight(bar)}`;
    if (now === measured.current) return;
    measured.current = now;
    for (const { shows, scale } of isLarge ? LARGE_LOOKS : LOOKS) {
      bar.dataset['shows'] = shows;
      bar.style.fontSize = `${scale}em`;
      if (isWhole(bar) && (shows !== 'rows' || leavesRoom(bar))) return;
    }
  });
  return ref;
}

/** Least height of the captions beside two rows of buttons (lines). */
const LEAST_LINES = 3;

const captionsAbove = ({ parentElement: panel }: HTMLElement): Element | null =>
  panel?.querySelector('.body') ?? null;
const bodyHeight = (bar: HTMLElement): number => captionsAbove(bar)?.clientHeight ?? 0;

/** Whether the captions above the bar keep enough lines. */
function leavesRoom(bar: HTMLElement): boolean {
  const captions = captionsAbove(bar);
  if (captions === null) return true;
  return (
    captions.clientHeight >=
    LEAST_LINES * LINE_HEIGHT * Number.parseFloat(getComputedStyle(captions).fontSize)
  );
}

/** Most lines of words on a button, with the space around them (font sizes): two. */
const WORDS_EM = 2.7;

function isWholeWord(word: HTMLElement): boolean {
  const { scrollWidth, clientWidth, clientHeight } = word;
  const letter = Number.parseFloat(getComputedStyle(word).fontSize);
  return scrollWidth <= clientWidth && clientHeight <= WORDS_EM * letter;
}

/** Whether all buttons fit into the bar without truncated words. */
function isWhole(bar: HTMLElement): boolean {
  const { left, right } = bar.getBoundingClientRect();
  return [...bar.querySelectorAll<HTMLElement>('button, .amount')].every((button) => {
    const box = button.getBoundingClientRect();
    const words = [...button.querySelectorAll<HTMLElement>('span')];
    const isInside = box.left >= left - 1 && box.right <= right + 1;
    return isInside && words.every(isWholeWord);
  });
}
