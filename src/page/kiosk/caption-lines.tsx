import { useSignal } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';
import {
  advanceLines,
  appendText,
  type Line,
  type Lines,
  layOutAgain,
  layOutRead,
  noLines,
  type Room,
} from '../../device/screen/captions/lines.ts';
import type { ScreenText } from '../../protocol/screen.ts';
import { onTexts, screen } from './store.ts';

/** Two lines of one language. Each is measured once, when it is filled, and then stays in place. */
export function CaptionLines({ language, letterPx }: { language: string; letterPx: number }) {
  const place = useRef<HTMLDivElement>(null);
  const shown = useSignal<readonly Line[]>([]);
  useEffect(() => {
    const box = place.current;
    if (box === null) return;
    const flow = createFlow(language, box, (lines) => {
      shown.value = lines;
    });
    flow.take(screen.peek()?.texts ?? [], 'begin');
    const unlisten = onTexts(flow.take);
    const observer = new ResizeObserver(flow.resized);
    observer.observe(box);
    return () => {
      unlisten();
      observer.disconnect();
      flow.close();
    };
  }, [language, letterPx]);
  return (
    <div class="captions" ref={place} role="log" aria-live="off">
      {shown.value.map(({ id, text }) => (
        <p class="line" key={id}>
          <bdi>{text.trimEnd()}</bdi>
        </p>
      ))}
    </div>
  );
}

function createFlow(language: string, box: HTMLElement, show: (lines: readonly Line[]) => void) {
  const context = document.createElement('canvas').getContext('2d');
  let lines = noLines(language);
  let width = box.clientWidth;
  let timer = 0;

  const room = (): Room => {
    if (context !== null) context.font = getComputedStyle(box).font;
    return { width, measure: (text) => context?.measureText(text).width ?? 0 };
  };
  const put = (next: Lines): void => {
    lines = next;
    show(lines.lines);
  };
  const advance = (): void => {
    clearTimeout(timer);
    if (width === 0) return;
    const now = performance.now();
    const step = advanceLines(lines, room(), now);
    put(step.lines);
    if (step.wakeAt !== null) timer = setTimeout(advance, step.wakeAt - now);
  };
  return {
    take(texts: readonly ScreenText[], how: 'new' | 'begin'): void {
      if (how === 'begin') lines = noLines(language);
      for (const text of texts)
        if (text.language === language) lines = appendText(lines, text.text, text.breaks);
      if (how === 'begin' && width > 0) put(layOutRead(lines, room()));
      advance();
    },
    resized(): void {
      if (box.clientWidth === width) return;
      width = box.clientWidth;
      lines = layOutAgain(lines);
      advance();
    },
    close: () => clearTimeout(timer),
  };
}
