import { useSignal } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';
import type { ScreenMenuItem } from '../../protocol/screen.ts';
import { Icon } from './icon.tsx';
import { screen } from './store.ts';

/** How long the reason of a button that is off is shown (ms). */
const REASON_MS = 4000;

/** A sign with a word below it. A button that is off says why when it is touched. */
export function Button(props: {
  icon?: string;
  label: string;
  /** What a screen reader says, if not the label. */
  name?: string;
  lang?: string;
  look?: 'end' | 'keyboard' | 'language' | 'staff' | 'step';
  /** Why the button is off, in the reader's language; null: it is on. Missing: it is never off. */
  off?: string | null;
  isChosen?: boolean;
  /** What the spoken menu calls it. */
  item?: ScreenMenuItem;
  press: () => void;
}) {
  const { icon, label, name = label, lang, look, off, isChosen, item, press } = props;
  const place = useRef<HTMLButtonElement>(null);
  const asked = useSignal<{ readonly reason: string; readonly at: number } | null>(null);
  useEffect(() => {
    if (asked.value === null) return;
    const timer = setTimeout(() => {
      asked.value = null;
    }, REASON_MS);
    return () => clearTimeout(timer);
  }, [asked.value]);
  const touched = (): void => {
    if (off == null) return press();
    asked.value = { reason: off, at: shareOfRow(place.current) };
  };
  return (
    <>
      <button
        ref={place}
        type="button"
        class={look}
        // Not `disabled`: a disabled button cannot be asked, and loses the focus.
        aria-disabled={off === undefined ? undefined : off !== null}
        aria-pressed={isChosen}
        aria-label={name}
        data-named={isNamed(item)}
        lang={lang}
        onClick={touched}
      >
        {icon !== undefined && <Icon path={icon} />}
        <span>{label}</span>
      </button>
      {off !== undefined && (
        <p class="reason" role="status" style={{ '--at': `${100 * (asked.value?.at ?? 0.5)}%` }}>
          {asked.value?.reason === off ? off : ''}
        </p>
      )}
    </>
  );
}

/** Whether the spoken menu names this item now; undefined: it does not. */
export const isNamed = (item: ScreenMenuItem | undefined): true | undefined =>
  (item !== undefined && screen.value?.menu?.item === item) || undefined;

/** Where a button stands in its row, from 0 at the left to 1. */
function shareOfRow(button: HTMLButtonElement | null): number {
  const row = button?.offsetParent;
  if (button === null || row == null) return 0.5;
  return (button.offsetLeft + button.offsetWidth / 2) / Math.max(1, row.clientWidth);
}
