import type { RefObject } from 'preact';
import { useLayoutEffect, useRef } from 'preact/hooks';

/** What the buttons of a row can show, best first; page.css defines each name. */
const LOOKS = [
  { shows: 'all', scale: 1 },
  { shows: 'all', scale: 0.85 },
  { shows: 'all', scale: 0.7 },
  // The button to speak gets a row of its own.
  { shows: 'rows', scale: 0.85 },
  { shows: 'rows', scale: 0.7 },
  { shows: 'signs', scale: 1 },
  // Only for screens smaller than any kiosk's: these letters are too small for the viewing distance.
  { shows: 'signs', scale: 0.7 },
  { shows: 'signs', scale: 0.5 },
] as const;

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

/** Whether all buttons fit into the bar without truncated words. */
function isWhole(bar: HTMLElement): boolean {
  const { left, right } = bar.getBoundingClientRect();
  return [...bar.querySelectorAll<HTMLElement>(':scope > button')].every((button) => {
    const box = button.getBoundingClientRect();
    const words = [...button.querySelectorAll<HTMLElement>('span')];
    const isInside = box.left >= left - 1 && box.right <= right + 1;
    return isInside && words.every(({ scrollWidth, clientWidth }) => scrollWidth <= clientWidth);
  });
}
