import type { RefObject } from 'preact';
import { useLayoutEffect, useRef } from 'preact/hooks';

/** What the buttons of a row can show, best first; page.css defines each name. */
const LOOKS = [
  { shows: 'all', scale: 1 },
  { shows: 'words', scale: 1 },
  { shows: 'rows', scale: 1 },
  { shows: 'signs', scale: 1 },
  // Only for screens smaller than any kiosk's: these letters are too small for the viewing distance.
  { shows: 'signs', scale: 0.7 },
  { shows: 'signs', scale: 0.5 },
] as const;

/** Largest share of the parent's height that a bar may take from the captions. */
const MOST_SHARE = 0.3;

/** Gives a row of buttons the first look that fits, whatever the language and the size of the screen. */
export function useFittingLook<T extends HTMLElement>(): RefObject<T | null> {
  const ref = useRef<T>(null);
  // After each render, because words and screen size may have changed.
  useLayoutEffect(() => {
    const bar = ref.current;
    if (bar === null) return;
    for (const { shows, scale } of LOOKS) {
      bar.dataset['shows'] = shows;
      bar.style.fontSize = `${scale}em`;
      if (isWhole(bar)) return;
    }
  });
  return ref;
}

/** Whether all buttons fit into the bar without truncated words, and leave room for captions. */
function isWhole(bar: HTMLElement): boolean {
  const { left, right } = bar.getBoundingClientRect();
  const room = bar.parentElement?.clientHeight ?? 0;
  if (bar.dataset['shows'] === 'rows' && bar.offsetHeight > room * MOST_SHARE) return false;
  return [...bar.querySelectorAll<HTMLElement>(':scope > button')].every((button) => {
    const box = button.getBoundingClientRect();
    const words = [...button.querySelectorAll<HTMLElement>('span, abbr')];
    const isInside = box.left >= left - 1 && box.right <= right + 1;
    return isInside && words.every(({ scrollWidth, clientWidth }) => scrollWidth <= clientWidth);
  });
}
