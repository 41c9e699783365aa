import { useSignal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import { useEffect } from 'preact/hooks';
import { get, isSessionOver, whyFailed } from '../client/api.ts';
import { t } from '../texts/text.ts';

export interface Fetched<T> {
  readonly value: T | null;
  readonly fault: string | null;
  again(): void;
}

/** Fetches a path, and again when the path changes. The old answer stays until the new one arrives. */
export function useFetched<T>(path: string | null): Fetched<T> {
  const value = useSignal<T | null>(null);
  const fault = useSignal<string | null>(null);
  const round = useSignal(0);
  const isOver = isSessionOver.value;
  useEffect(() => {
    if (path === null) return;
    let isCurrent = true;
    get<T>(path).then(
      (next) => {
        if (!isCurrent) return;
        value.value = next;
        fault.value = null;
      },
      (error: unknown) => {
        if (isCurrent) fault.value = whyFailed(error);
      },
    );
    return () => {
      isCurrent = false;
    };
  }, [path, round.value, isOver]);
  return {
    value: value.value,
    fault: fault.value,
    again: () => {
      round.value += 1;
    },
  };
}

/** Shows the fetched data, a loading state, or the error. */
export function Shown<T>({
  of,
  children,
}: {
  readonly of: Fetched<T>;
  children(value: T): ComponentChildren;
}) {
  return (
    <>
      <Fault text={of.fault} />
      {of.value !== null ? children(of.value) : of.fault === null && <p class="empty">{t('loading')}</p>}
    </>
  );
}

export function Fault({ text }: { readonly text: string | null }) {
  return text === null ? null : (
    <p class="fault" role="alert">
      {text}
    </p>
  );
}
