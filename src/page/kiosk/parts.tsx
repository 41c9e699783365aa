import type { ComponentChildren } from 'preact';
import { useEffect, useRef } from 'preact/hooks';

/** Time to read one part (ms). */
const PART_MS = 6000;

/** Shows a text in full; without enough room, it shows the parts in turn. */
export function Parts({ dir, children }: { dir: 'ltr' | 'rtl'; children: ComponentChildren }) {
  const place = useRef<HTMLDivElement>(null);
  useEffect(() => {
    let part = 0;
    // The browser has laid the parts out beside each other, as columns.
    const turn = (): void => {
      const box = place.current;
      if (box === null || box.clientWidth === 0) return;
      part = (part + 1) % Math.max(1, Math.round(box.scrollWidth / box.clientWidth));
      box.scrollLeft = (dir === 'rtl' ? -1 : 1) * part * box.clientWidth;
    };
    const timer = setInterval(turn, PART_MS);
    return () => clearInterval(timer);
  }, [dir]);
  return (
    <div class="parts" ref={place}>
      {children}
    </div>
  );
}
