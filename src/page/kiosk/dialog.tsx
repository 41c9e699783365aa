import { useEffect, useLayoutEffect, useRef } from 'preact/hooks';
import { passFocusOn } from './focus.ts';
import { act } from './link.ts';
import { StillThere } from './still-there.tsx';

/** Throttle of touch reports to the agent (ms). */
const TOUCH_EACH_MS = 5000;
/** After this time without a touch, a dialog closes that belongs to no conversation (ms). */
const ABANDONED_MS = 60_000;

/**
 * A dialog over the whole screen: the browser keeps the focus in it, and Escape closes it. Opening and using it count as
 * presence, which begins a conversation and keeps it alive. An abandoned dialog closes when the conversation ends.
 */
export function Dialog(props: {
  label: string;
  /** The lane of the conversation; null: the dialog begins none, and closes after a while. */
  lane: string | null;
  lang: string;
  dir: 'ltr' | 'rtl';
  /** Upside down, for the person on the other side of the screen. */
  isTurned?: boolean;
  close: () => void;
  children: preact.ComponentChildren;
}) {
  const { label, lane, lang, dir, isTurned = false, close, children } = props;
  const place = useRef<HTMLDialogElement>(null);
  const touchedAt = useRef(Number.NEGATIVE_INFINITY);
  const timer = useRef(0);
  const touched = (): void => {
    if (lane === null) {
      clearTimeout(timer.current);
      timer.current = setTimeout(close, ABANDONED_MS);
      return;
    }
    if (performance.now() - touchedAt.current < TOUCH_EACH_MS) return;
    touchedAt.current = performance.now();
    void act({ do: 'touch', lane });
  };
  useEffect(() => {
    const opener = document.activeElement;
    place.current?.showModal();
    touched();
    return () => {
      if (opener instanceof HTMLElement) opener.focus();
    };
  }, []);
  useLayoutEffect(() => {
    const before = document.activeElement;
    return () => {
      clearTimeout(timer.current);
      passFocusOn(place.current, before);
    };
  }, []);
  return (
    <dialog
      ref={place}
      class={isTurned ? 'turned' : ''}
      aria-label={label}
      lang={lang}
      dir={dir}
      onClose={close}
      onPointerDown={touched}
      // A repeating key may be pressed by an object, not by a person.
      onKeyDown={({ repeat }) => !repeat && touched()}
    >
      {children}
      {lane !== null && <StillThere lane={lane} languages={[lang]} />}
    </dialog>
  );
}
