import { useSignal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import { moved, rangeOf, scrollTo } from './virtual-range.ts';

export interface VirtualRowsProps {
  readonly label: string;
  readonly total: number;
  readonly columns: number;
  /** The fixed header. */
  readonly head: ComponentChildren;
  /** Identifies the content: when it changes, the list scrolls back to the top. */
  readonly about: string;
  row(at: number): ComponentChildren;
  isSelected(at: number): boolean;
  /** These rows are visible, from `from` up to, not including, `to`. */
  onRange(from: number, to: number): void;
  onOpen(at: number): void;
  onSelect(at: number): void;
  onPointer?(): void;
  onPointerGone?(): void;
}

/** A list of rows of one height that renders only the visible ones. It is one tab stop; arrow keys move between rows. */
export function VirtualRows(props: VirtualRowsProps) {
  const { label, total, columns, head, about } = props;
  const grid = useRef<HTMLDivElement>(null);
  const place = useRef<HTMLDivElement>(null);
  const range = useSignal({ from: 0, to: 30 });
  const at = useSignal(0);
  const rowPx = useRef(40);

  const measure = (): void => {
    const box = place.current;
    if (box === null) return;
    const next = rangeOf(box.scrollTop, box.clientHeight, rowPx.current, total);
    const { from, to } = range.value;
    if (next.from === from && next.to === to) return;
    range.value = next;
    props.onRange(next.from, next.to);
  };
  useEffect(() => {
    const box = place.current;
    if (box === null) return;
    const resized = (): void => {
      rowPx.current = Number.parseFloat(getComputedStyle(box).getPropertyValue('--row')) || 40;
      measure();
    };
    const watch = new ResizeObserver(resized);
    watch.observe(box);
    resized();
    return () => watch.disconnect();
  }, [total]);
  useEffect(() => {
    at.value = 0;
    place.current?.scrollTo(0, 0);
  }, [about]);

  const onKey = (event: KeyboardEvent): void => {
    const box = place.current;
    if (box === null || event.target !== grid.current || event.ctrlKey || event.metaKey || event.altKey)
      return;
    if (event.key === 'Enter') props.onOpen(at.value);
    else if (event.key === ' ') props.onSelect(at.value);
    else {
      const page = Math.max(1, Math.floor(box.clientHeight / rowPx.current) - 1);
      const next = moved(event.key, at.value, total, page);
      if (next === null) return;
      at.value = next;
      box.scrollTop = scrollTo(next, box.scrollTop, box.clientHeight, rowPx.current);
    }
    event.preventDefault();
  };
  const { from, to } = range.value;
  const current = Math.min(at.value, total - 1);
  const visible = Array.from({ length: Math.max(0, Math.min(to, total) - from) }, (_, step) => from + step);
  return (
    <div
      ref={grid}
      class="grid"
      role="grid"
      tabIndex={0}
      aria-label={label}
      aria-rowcount={total + 1}
      aria-colcount={columns}
      aria-multiselectable="true"
      aria-activedescendant={current >= from && current < to ? `row-${current}` : undefined}
      onKeyDown={onKey}
    >
      {head}
      <div
        ref={place}
        class="scroller"
        role="rowgroup"
        tabIndex={-1}
        onScroll={measure}
        onPointerMove={props.onPointer}
        onPointerLeave={props.onPointerGone}
      >
        <div class="tall" style={{ height: `calc(var(--row) * ${total})` }} />
        {visible.map((index) => (
          <div
            key={index}
            id={`row-${index}`}
            class={`line ${index === current ? 'at' : ''}`}
            role="row"
            tabIndex={-1}
            aria-rowindex={index + 2}
            aria-selected={props.isSelected(index)}
            style={{ transform: `translateY(calc(var(--row) * ${index}))` }}
            onMouseDown={() => {
              at.value = index;
            }}
            onClick={(event) => {
              if (event.target instanceof Element && event.target.closest('a, input, label') !== null) return;
              props.onOpen(index);
            }}
          >
            {props.row(index)}
          </div>
        ))}
      </div>
    </div>
  );
}
