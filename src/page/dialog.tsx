import { useEffect, useRef } from 'preact/hooks';

/** A dialog over the whole screen: the browser keeps the focus in it, and Escape closes it. */
export function Dialog(props: {
  label: string;
  lang: string;
  dir: 'ltr' | 'rtl';
  close: () => void;
  children: preact.ComponentChildren;
}) {
  const { label, lang, dir, close, children } = props;
  const place = useRef<HTMLDialogElement>(null);
  useEffect(() => place.current?.showModal(), []);
  return (
    <dialog ref={place} aria-label={label} lang={lang} dir={dir} onClose={close}>
      {children}
    </dialog>
  );
}
