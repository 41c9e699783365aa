import { useSignal } from '@preact/signals';
import { useEffect, useLayoutEffect, useRef } from 'preact/hooks';
import {
  advanceLines,
  appendText,
  firstVisible,
  type Line,
  type Lines,
  layOutAgain,
  layOutRead,
  noLines,
  type Room,
} from '../../device/screen/captions/lines.ts';
import type { ScreenText } from '../../protocol/screen.ts';
import { LINE_HEIGHT } from './sizes.ts';
import { onTexts, screen } from './store.ts';

/** Space between two blocks, in lines; page.css has the same. */
const GAP = 0.3;
/** Width of the mark in front of a line, with its space, in font sizes; page.css has the same. */
const MARK = 0.4;
/** After this time without a touch, a reader who looked back sees the newest line again (ms). */
const LOOKS_BACK_MS = 10_000;
/** Duration of a move up (ms). */
const MOVE_MS = 180;

/** The sentences of one language, the newest at the bottom. Each line is measured once, when it is filled, and then stays as it is. */
export function CaptionLines({ language, letterPx }: { language: string; letterPx: number }) {
  const place = useRef<HTMLDivElement>(null);
  const shown = useSignal<Shown>(NOTHING);
  const resized = useRef(() => {});
  useEffect(() => {
    const box = place.current;
    if (box === null) return;
    const flow = createFlow(language, box, (next) => {
      shown.value = next;
    });
    resized.current = flow.resized;
    flow.take(screen.peek()?.texts ?? [], 'begin');
    const unlisten = onTexts(flow.take);
    const observer = new ResizeObserver(flow.resized);
    observer.observe(box);
    return () => {
      unlisten();
      observer.disconnect();
      flow.close();
    };
  }, [language]);
  // A change of the letters alone does not change the box.
  useEffect(() => resized.current(), [letterPx]);
  useNewestInView(place, shown.value);
  const blocks = blocksOf(shown.value.lines);
  return (
    // If earlier lines are out of view, the captions take the focus, so that the arrow keys scroll to them.
    <div class="captions" ref={place} role="log" aria-live="off" tabIndex={shown.value.from > 0 ? 0 : -1}>
      <div class="sentences">
        {blocks.map(({ id, lines }, index) => (
          <div key={id} class={classOf(lines[0]?.isSpoken === true, index === blocks.length - 1)}>
            {lines.map(({ id: line, text }) => (
              <p class={line < shown.value.from ? 'line gone' : 'line'} key={line}>
                <bdi>{text.trimEnd()}</bdi>
              </p>
            ))}
          </div>
        ))}
      </div>
    </div>
  );
}

interface Shown {
  readonly lines: readonly Line[];
  /** Number of the first line that the panel has room for. */
  readonly from: number;
}
const NOTHING: Shown = { lines: [], from: 0 };

const classOf = (isSpoken: boolean, isNewest: boolean): string =>
  `sentence ${isSpoken ? 'spoken' : 'translated'}${isNewest ? '' : ' earlier'}`;

function blocksOf(lines: readonly Line[]): { id: number; lines: Line[] }[] {
  const blocks: { id: number; lines: Line[] }[] = [];
  for (const line of lines) {
    const last = blocks.at(-1);
    if (last?.id === line.block) last.lines.push(line);
    else blocks.push({ id: line.block, lines: [line] });
  }
  return blocks;
}

/** Keeps the newest line in view, and moves the lines up smoothly. A reader may look back for a while. */
function useNewestInView(place: { readonly current: HTMLDivElement | null }, shown: Shown): void {
  const isLookingBack = useRef(false);
  const height = useRef(0);
  /** The heights of the lines and of their box at the last change: another layout scrolls, too, and nobody has looked back. */
  const laidOut = useRef('');
  useEffect(() => {
    const box = place.current;
    if (box === null) return;
    let timer = 0;
    const toNewest = (): void => {
      isLookingBack.current = false;
      box.classList.remove('looking-back');
      box.scrollTop = newestAt(box);
    };
    const scrolled = (): void => {
      clearTimeout(timer);
      if (heightsOf(box) !== laidOut.current) return toNewest();
      // The lowest letters reach a little beyond their line.
      const letter = Number.parseFloat(getComputedStyle(box).fontSize);
      isLookingBack.current = box.scrollTop < newestAt(box) - letter / 2;
      box.classList.toggle('looking-back', isLookingBack.current);
      if (isLookingBack.current) timer = setTimeout(toNewest, LOOKS_BACK_MS);
    };
    box.addEventListener('scroll', scrolled);
    return () => {
      clearTimeout(timer);
      box.removeEventListener('scroll', scrolled);
    };
  }, []);
  useLayoutEffect(() => {
    const box = place.current;
    const content = box?.firstElementChild;
    if (box === null || !(content instanceof HTMLElement)) return;
    laidOut.current = heightsOf(box);
    const grew = content.offsetHeight - height.current;
    height.current = content.offsetHeight;
    if (isLookingBack.current) return;
    box.scrollTop = newestAt(box);
    const isStill = matchMedia('(prefers-reduced-motion: reduce)').matches;
    const isFirst = grew === height.current;
    if (isFirst || grew <= 0 || grew > box.clientHeight || isStill) return;
    content.animate([{ transform: `translateY(${grew}px)` }, { transform: 'none' }], {
      duration: MOVE_MS,
      easing: 'ease-out',
    });
    // Also after a change of the box alone: the buttons come and go.
  }, [shown]);
}

const heightsOf = (box: HTMLElement): string => `${newestAt(box)} ${box.clientHeight}`;

/** The scroll position of the newest line. The height of the content does not change while it moves; the box's `scrollHeight` does. */
function newestAt(box: HTMLElement): number {
  const content = box.firstElementChild;
  return content instanceof HTMLElement ? content.offsetHeight - box.clientHeight : 0;
}

function createFlow(language: string, box: HTMLElement, show: (next: Shown) => void) {
  const context = document.createElement('canvas').getContext('2d');
  let lines = noLines(language);
  let [width, height] = [0, 0];
  let timer = 0;

  const measureBox = (): void => {
    const letter = Number.parseFloat(getComputedStyle(box).fontSize);
    width = box.clientWidth - MARK * letter;
    height = box.clientHeight;
  };
  const room = (): Room => {
    const { font, fontSize } = getComputedStyle(box);
    if (context !== null) context.font = font;
    const rows = Math.max(1, Math.floor((height / Number.parseFloat(fontSize) / LINE_HEIGHT) * 10) / 10);
    return { width, rows, gap: GAP, measure: (text) => context?.measureText(text).width ?? 0 };
  };
  const put = (next: Lines): void => {
    lines = next;
    show({ lines: lines.lines, from: lines.lines[firstVisible(lines.lines, room())]?.id ?? 0 });
  };
  const advance = (): void => {
    clearTimeout(timer);
    if (width <= 0) return;
    const now = performance.now();
    const step = advanceLines(lines, room(), now);
    put(step.lines);
    if (step.wakeAt !== null) timer = setTimeout(advance, step.wakeAt - now);
  };
  measureBox();
  return {
    take(texts: readonly ScreenText[], how: 'new' | 'begin'): void {
      if (how === 'begin') lines = noLines(language);
      for (const text of texts) if (text.language === language) lines = appendText(lines, text);
      if (how === 'begin' && width > 0) put(layOutRead(lines, room()));
      advance();
    },
    resized(): void {
      const before = width;
      measureBox();
      if (width !== before && width > 0) lines = layOutAgain(lines, room());
      advance();
    },
    close: () => clearTimeout(timer),
  };
}
