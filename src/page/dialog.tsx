import { useEffect, useRef } from 'preact/hooks';

/** A dialog over the whole screen: the browser keeps the focus in it, and Escape closes it. */
export function Dialog(props: {
  label: string;
  lang: string;
  dir: 'ltr' | 'rtl';
  /** Upside down, for the person on the other side of the screen. */
  isTurned?: boolean;
  close: () => void;
  children: preact.ComponentChildren;
}) {
  const { label, lang, dir, isTurned = false, close, children } = props;
  const place = useRef<HTMLDialogElement>(null);
  useEffect(() => place.current?.showModal(), []);
  return (
    <dialog
      ref={place}
      class={isTurned ? 'turned' : ''}
      aria-label={label}
      lang={lang}
      dir={dir}
      onClose={close}
    >
      {children}
    </dialog>
  );
}
