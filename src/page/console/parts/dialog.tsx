import type { ComponentChildren } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import { t } from '../texts/text.ts';

/** A dialog over the page: the keyboard focus stays inside, and returns when it closes. */
export function Dialog({
  title,
  onClose,
  children,
}: {
  readonly title: string;
  /** Left out: it cannot be closed. */
  readonly onClose?: () => void;
  readonly children: ComponentChildren;
}) {
  const place = useRef<HTMLDialogElement>(null);
  useEffect(() => {
    const before = document.activeElement;
    const dialog = place.current;
    dialog?.showModal();
    return () => {
      // Close it first: the browser focuses nothing behind an open dialog.
      dialog?.close();
      if (before instanceof HTMLElement) before.focus();
    };
  }, []);
  return (
    <dialog
      ref={place}
      aria-label={title}
      onCancel={(event) => {
        event.preventDefault();
        onClose?.();
      }}
    >
      <div class="row">
        <h2>{title}</h2>
      </div>
      {children}
      {onClose && (
        <div class="row">
          <button type="button" onClick={onClose}>
            {t('close')}
          </button>
        </div>
      )}
    </dialog>
  );
}
